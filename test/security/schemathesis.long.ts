/**
 * Schemathesis over the descriptions that the service and the authentication proxy serve, as they serve them: every answer is
 * as described, and none is a 5xx but a declared 501. Its Python environment is made by `.ci/run`.
 */
import { execFile } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../runs.ts'
import { type Memory, readClient, type ServingProcess, startProcess } from '../service/process.ts'

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

const SEED = Number(process.env['QUORATE_SEED'] ?? 11)

/** Each makes up other requests of every operation, of one service. */
const ROUNDS = 2

/** What may be there after the last round and was not after the first, garbage not counted, however many requests there were. */
const MOST_GROWTH_MB = { used: 24, resident: 64 } satisfies Memory

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
      const labels = new Set<string>()
      const statuses = new Map<number, number>()
      const memories: Memory[] = []
      let slowest = { label: '', seconds: 0 }

      // Each round asks for every operation, so that memory after one is compared with memory after another.
      for (let round = 0; round < ROUNDS; round++) {
        await makeUp(url, hooks, report, { examples: runs(examples) / ROUNDS, seed: SEED + round })
        const faults: string[] = []
        for await (const line of createInterface({ input: createReadStream(report) })) {
          const { NonFatalError, ScenarioFinished: scenario } = JSON.parse(line) as Event
          // A hook that fails counts as no failure of an operation.
          if (NonFatalError) faults.push(line)
          if (!scenario) continue
          const { label, interactions } = scenario.recorder
          if (scenario.status !== 'success') faults.push(label)
          labels.add(label)
          for (const { response } of Object.values(interactions)) {
            const status = response?.status_code ?? 0
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            const seconds = response?.elapsed ?? 0
            if (seconds > slowest.seconds) slowest = { label, seconds }
          }
        }
        expect(faults).toEqual([])
        memories.push(await service.memory())
      }

      const figures = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}=${count}`)
      const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
      const memory = memories.map(({ used, resident }) => `${used} of ${resident}`).join(', ')
      process.stdout.write(
        `schemathesis of ${what}: operations=${labels.size} requests=${requests} ${figures.join(' ')} memory=${memory} MB seed=${SEED} slowest=${slowest.label} in ${slowest.seconds.toFixed(1)} s\n`,
      )
      for (const [name, most] of Object.entries(MOST_GROWTH_MB) as [keyof Memory, number][])
        expect(memories.at(-1)![name] - memories[0]![name], `growth of ${name}`).toBeLessThan(most)
      expect(labels.size).toBeGreaterThan(operations)
      // It got past the door: good stamps, good bodies, and what must be refused.
      for (const status of wanted) expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0)
      expect([...statuses.keys()].filter((status) => status === 0 || (status >= 500 && status !== 501))).toEqual([])
    },
  )

  /** Runs Schemathesis once over every operation; its report says what was answered. */
  async function makeUp(url: string, hooks: string, report: string, bounds: { examples: number; seed: number }) {
    await promisify(execFile)(
      tool,
      [
        ...['--config-file', join(folder, 'schemathesis.toml'), 'run', `${url}/openapi.json`],
        ...['--checks', CHECKS.join(',')],
        ...['--phases', 'fuzzing', '--max-examples', String(Math.ceil(bounds.examples)), '--seed', String(bounds.seed)],
        ...['--no-shrink', '--continue-on-failure'],
        ...['--generation-with-security-parameters', 'false', '--generation-database', 'none'],
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
  }
})

interface Answer {
  readonly status_code: number
  /** In seconds. */
  readonly elapsed: number
}

/** A line of the report. */
interface Event {
  readonly NonFatalError?: object
  readonly ScenarioFinished?: {
    readonly status: string
    readonly recorder: {
      readonly label: string
      readonly interactions: Readonly<Record<string, { readonly response: Answer | null }>>
    }
  }
}
