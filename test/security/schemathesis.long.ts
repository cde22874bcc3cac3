/**
 * Schemathesis over the descriptions that the service and the authentication proxy serve, as they serve them: every answer is
 * as described, and none is a 5xx but a declared 501. Its Python environment is made by `.ci/run`.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../runs.ts'
import { readClient, type ServingProcess, startProcess } from '../service/process.ts'

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

/** A long run is made of several, each of which makes up other requests. */
const SEED = process.env['QUORATE_SEED'] ?? '11'

/** However many requests there were. */
const MOST_MEMORY_MB = 600

/** What is described, by whom, with how many requests an operation, and what is known of it that the description does not say. */
const DESCRIBED = [
  { what: 'the service', hooks: 'hooks', operations: 150, examples: 2, statuses: [200, 400, 401, 404, 501] },
  { what: 'the authentication proxy', hooks: 'proxy_hooks', operations: 12, examples: 4, statuses: [200, 400, 404] },
] as const

describe.skipIf(!existsSync(tool))('schemathesis', () => {
  let dataDir: string
  let service: ServingProcess
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'quorate-schemathesis-'))
    // Each request to the proxy comes from an address of its own.
    const proxy = { rate: 1_000 }
    service = await startProcess(dataDir, { proxy, trustedProxies: ['127.0.0.1'] })
    const client = readClient(dataDir)
    const features = ['FEATURE_NAME_OTP_EMAIL_AUTH', 'FEATURE_NAME_SMS_AUTH'].map((name) =>
      client.body('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name, value: '' }),
    )
    for (const body of [client.body('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {}), ...features])
      await client.send(service.url, body)
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  })

  test.each(DESCRIBED)(
    'schemathesis: every answer of $what is as its served description says',
    { timeout: runs(900_000) },
    async ({ what, hooks, operations, examples, statuses: wanted }) => {
      const bootstrap = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>
      const url = hooks === 'hooks' ? service.url : bootstrap['authProxyUrl']!
      const report = join(dataDir, `${hooks}.ndjson`)
      const bounds = [
        ...['--phases', 'fuzzing', '--max-examples', String(runs(examples)), '--seed', SEED],
        ...['--no-shrink', '--continue-on-failure'],
      ]
      const generation = ['--generation-with-security-parameters', 'false', '--generation-database', 'none']
      const { stdout } = await promisify(execFile)(
        tool,
        [
          ...['--config-file', join(folder, 'schemathesis.toml'), 'run', `${url}/openapi.json`],
          ...['--checks', CHECKS.join(',')],
          ...bounds,
          ...generation,
          // What has no turn on a busy machine is late; how long a request holds the thread is `held-thread.long.ts`.
          ...['--request-timeout', '60'],
          ...['--suppress-health-check', 'all', '--report', 'ndjson', '--report-ndjson-path', report, '--no-color'],
        ],
        {
          // It keeps what it learned of the service where it runs.
          cwd: dataDir,
          env: {
            PATH: process.env['PATH'],
            PYTHONPATH: folder,
            PYTHONDONTWRITEBYTECODE: '1',
            SCHEMATHESIS_HOOKS: hooks,
            QUORATE_BASE_URL: service.url,
            QUORATE_BOOTSTRAP: join(dataDir, 'bootstrap.json'),
          },
          maxBuffer: runs(64 * 1024 * 1024),
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

      const slowest = new Map<string, number>()
      const statuses = new Map<number, number>()
      for (const { recorder } of scenarios)
        for (const { response } of Object.values(recorder.interactions)) {
          statuses.set(response?.status_code ?? 0, (statuses.get(response?.status_code ?? 0) ?? 0) + 1)
          slowest.set(recorder.label, Math.max(slowest.get(recorder.label) ?? 0, response?.elapsed ?? 0))
        }
      const figures = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}=${count}`)
      const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
      const [last] = [...slowest].sort(([, a], [, b]) => b - a)
      const memory = memoryOf(service.pid)
      process.stdout.write(
        `schemathesis of ${what}: operations=${scenarios.length} requests=${requests} ${figures.join(' ')} memory=${memory} MB seed=${SEED} slowest=${last?.[0]} in ${last?.[1].toFixed(1)} s\n`,
      )
      expect(memory).toBeLessThan(MOST_MEMORY_MB)
      expect(scenarios.length, stdout).toBeGreaterThan(operations)
      // It got past the door: good stamps, good bodies, and what must be refused.
      for (const status of wanted) expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0)
      expect([...statuses.keys()].filter((status) => status === 0 || (status >= 500 && status !== 501))).toEqual([])
    },
  )
})

/** The resident memory of a process, in MB; 0 where the system does not say. */
function memoryOf(pid: number): number {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return 0
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1] ?? 0) / 1024)
}

interface Answer {
  readonly status_code: number
  /** In seconds. */
  readonly elapsed: number
}

interface Scenario {
  readonly status: string
  readonly recorder: {
    readonly label: string
    readonly interactions: Readonly<Record<string, { readonly response: Answer | null }>>
  }
}
