/**
 * Schemathesis over the description that the service serves, as it serves it: every answer is as described, and none is a
 * 5xx but a declared 501. Its Python environment is made by `.ci/run`.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess } from '../service/process.ts'

const VENV = 'quorate/schemathesis-4.32.5'
const tool = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), VENV, 'bin/schemathesis')
const folder = new URL('schemathesis/', import.meta.url).pathname

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

test.skipIf(!existsSync(tool))(
  'schemathesis: every answer is as the served description says',
  { timeout: 300_000 },
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'quorate-schemathesis-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const service = await startProcess(dataDir)
    onTestFinished(() => service.end('SIGTERM'))
    const report = join(dataDir, 'report.ndjson')
    const settings = ['--config-file', join(folder, 'schemathesis.toml')]
    const bounds = [
      '--phases',
      'fuzzing',
      '--max-examples',
      '4',
      '--seed',
      '11',
      '--no-shrink',
      '--continue-on-failure',
    ]
    const generation = ['--generation-with-security-parameters', 'false', '--generation-database', 'none']
    const { stdout } = await promisify(execFile)(
      tool,
      [
        ...settings,
        'run',
        `${service.url}/openapi.json`,
        ...['--checks', CHECKS.join(',')],
        ...bounds,
        ...generation,
        ...['--suppress-health-check', 'all', '--report', 'ndjson', '--report-ndjson-path', report, '--no-color'],
      ],
      {
        // It keeps what it learned of the service where it runs.
        cwd: dataDir,
        env: {
          PATH: process.env['PATH'],
          PYTHONPATH: folder,
          PYTHONDONTWRITEBYTECODE: '1',
          SCHEMATHESIS_HOOKS: 'hooks',
          QUORATE_BASE_URL: service.url,
          QUORATE_BOOTSTRAP: join(dataDir, 'bootstrap.json'),
        },
        maxBuffer: 64 * 1024 * 1024,
      },
    ).catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`)
    })
    const events = readFileSync(report, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, Scenario>)
    // A hook that fails counts as no failure of an operation.
    expect(events.filter((one) => one['NonFatalError']).map((one) => JSON.stringify(one))).toEqual([])
    const scenarios = events.flatMap((one) => one['ScenarioFinished'] ?? [])
    expect(scenarios.filter(({ status }) => status !== 'success').map(({ recorder }) => recorder.label)).toEqual([])

    const statuses = new Map<number, number>()
    for (const { recorder } of scenarios)
      for (const { response } of Object.values(recorder.interactions))
        statuses.set(response?.status_code ?? 0, (statuses.get(response?.status_code ?? 0) ?? 0) + 1)
    const figures = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}=${count}`)
    process.stdout.write(`schemathesis: operations=${scenarios.length} ${figures.join(' ')}\n`)
    expect(scenarios.length, stdout).toBeGreaterThan(150)
    // It got past the door: good stamps, good bodies, and what must be refused.
    for (const status of [200, 400, 401, 404, 501]) expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0)
    expect([...statuses.keys()].filter((status) => status === 0 || (status >= 500 && status !== 501))).toEqual([])
  },
)

interface Scenario {
  readonly status: string
  readonly recorder: {
    readonly label: string
    readonly interactions: Readonly<Record<string, { readonly response: { readonly status_code: number } | null }>>
  }
}
