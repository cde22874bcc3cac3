/** What a worker tells whoever watches it: a real worker process, Temporal and service. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { askOperator } from '../../src/service/operator/index.ts'
import { openMonitor } from '../../src/worker/index.ts'
import { builtMain } from '../built.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { connectTestTemporal } from '../temporal.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

const definitions = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {} }
`

/** The samples of a page, by name and labels. */
async function samplesOf(url: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await fetch(url)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

test('a worker serves its health and the state of its watch, and ends with 0 when it is told to', async () => {
  const place = await scene({ operator: true, more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
  await place.stopWorker()
  const worker = spawn(process.execPath, [builtMain(), 'worker', '--json', '--metrics-port', '0'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...place.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void worker.kill('SIGKILL'))
  const exit = once(worker, 'exit')
  let said = ''
  worker.stdout.on('data', (chunk) => {
    said += chunk
  })
  await vi.waitFor(() => expect(said).toContain('"metricsUrl"'))
  const ready = said.split('\n').find((text) => text.includes('"metricsUrl"'))!
  const { healthUrl, metricsUrl } = JSON.parse(ready) as Readonly<Record<'healthUrl' | 'metricsUrl', string>>
  await vi.waitFor(
    async () => {
      const health = await fetch(healthUrl)
      expect([health.status, await health.json()]).toEqual([
        200,
        { status: 'ok', worker: 'running', temporal: 'ok', api: 'ok' },
      ])
    },
    { interval: 500 },
  )
  const folder = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': definitions })
  const id = `{organization_id="${place.service.organizationId}"}`
  expect((await samplesOf(metricsUrl)).has(`quorate_watch_drift${id}`)).toBe(false)

  // Nothing was applied: the tag is drift.
  expect((await quorate(['watch', 'add', folder, '--every', '1h'], place)).exit).toBe(0)
  const samples = await vi.waitFor(
    async () => {
      const found = await samplesOf(metricsUrl)
      expect(found.get(`quorate_watch_drift${id}`)).toBe(1)
      expect(found.get('quorate_worker_steps_total{step="lookAround",outcome="done"}')).toBe(1)
      // What follows the look is another task.
      expect(found.get('quorate_worker_queue_tasks{kind="workflow"}')).toBe(0)
      return found
    },
    { interval: 250 },
  )
  expect(Math.abs(Date.now() / 1e3 - samples.get(`quorate_watch_looked_at_seconds${id}`)!)).toBeLessThan(60)
  expect(samples.has(`quorate_watch_good_at_seconds${id}`)).toBe(false)
  for (const [name, value] of [
    [`quorate_watch_failing${id}`, 0],
    [`quorate_watch_held${id}`, 0],
    [`quorate_watch_waiting${id}`, 0],
    ['quorate_worker_up{part="worker"}', 1],
    ['quorate_worker_up{part="temporal"}', 1],
    ['quorate_worker_up{part="api"}', 1],
    ['quorate_worker_queue_tasks{kind="workflow"}', 0],
    ['quorate_worker_queue_tasks{kind="activity"}', 0],
  ] as const)
    expect([name, samples.get(name)]).toEqual([name, value])

  // An apply whose first submit is refused with 429, and is made again.
  const refusals = (code: string) => `quorate_worker_api_refusals_total{code="${code}"}`
  expect(samples.get(refusals('client/rate-limited'))).toBe(0)
  const fault = { path: '/public/v1/submit/*', times: 1, status: 429, retryAfter: 1 } as const
  await askOperator(place.service.dataDir, { kind: 'add-fault', fault })
  const applied = await quorate(['apply', folder, '--yes'], place)
  expect(applied.exit, applied.stderr).toBe(0)
  const ended = await vi.waitFor(async () => {
    const found = await samplesOf(metricsUrl)
    expect(found.get('quorate_worker_apply_seconds_count{outcome="done"}')).toBe(1)
    return found
  })
  expect(ended.get(refusals('client/rate-limited'))).toBe(1)
  expect(ended.get('quorate_worker_apply_seconds_sum{outcome="done"}')).toBeGreaterThan(1)

  const page = await (await fetch(metricsUrl)).text()
  expect(page).not.toContain('acme')
  expect(page).not.toContain(place.service.root.privateKey)
  worker.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
})

test('health is red while a worker starts or drains, and when the API is away', async () => {
  const temporal = await connectTestTemporal()
  let status = 404
  const api = createServer((_request, response) => response.writeHead(status).end())
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const open = () =>
    openMonitor({
      port: 0,
      temporal,
      taskQueue: 'none',
      baseUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      organizationId: 'none',
      watches: { get: async () => undefined, stateOf: async () => undefined },
    })
  const monitors = [await open()]
  onTestFinished(async () => {
    for (const monitor of monitors) await monitor.close()
    api.close()
    await temporal.close()
  })
  let state: 'RUNNING' | 'DRAINING' = 'RUNNING'
  const worker = { getState: () => state, getStatus: () => ({ numInFlightActivities: 0 }) as never }
  const health = async (at = monitors[0]!) => {
    const answer = await fetch(at.healthUrl)
    return [answer.status, await answer.json()]
  }
  expect(await health()).toEqual([503, { status: 'failing', worker: 'starting', temporal: 'ok', api: 'ok' }])
  monitors[0]!.observe(worker)
  expect(await health()).toEqual([200, { status: 'ok', worker: 'running', temporal: 'ok', api: 'ok' }])
  state = 'DRAINING'
  expect(await health()).toEqual([503, { status: 'failing', worker: 'draining', temporal: 'ok', api: 'ok' }])

  state = 'RUNNING'
  status = 502
  monitors.push(await open())
  monitors[1]!.observe(worker)
  expect(await health(monitors[1])).toEqual([
    503,
    { status: 'failing', worker: 'running', temporal: 'ok', api: 'away' },
  ])
  // A name that leads here from elsewhere, and paths that are not there.
  expect((await fetch(monitors[1]!.healthUrl.replace('/healthz', '/constructor'))).status).toBe(404)
})
