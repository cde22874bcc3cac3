/** The operator of a service sees whether it can do its work, and what it does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { builtMain } from '../built.ts'
import { quorate, testFolder } from '../cli/harness.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { createSmallDisk, type SmallDisk } from '../service/small-disk.ts'
import { open } from './raw.ts'

const WHOAMI = '/public/v1/query/whoami'

async function start(options: Partial<ServiceOptions> = {}): Promise<TestService> {
  const service = await startTestService(options)
  onTestFinished(() => service.close())
  return service
}

async function ready(url: string): Promise<{ readonly status: number; readonly reasons?: readonly string[] }> {
  const response = await fetch(`${url}/readyz`)
  const { reasons } = (await response.json()) as { reasons?: readonly string[] }
  return { status: response.status, ...(reasons && { reasons }) }
}

/** The status of a submit, and of a query, that would be carried out. */
async function ask(service: TestService): Promise<{ readonly submit: number; readonly query: number }> {
  const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: newName(), userIds: [] })
  const submitted = await service.root.raw(path, text)
  if (submitted.status !== 200) {
    expect(submitted.body).toMatchObject({ code: 14, message: 'service unavailable', turnkeyErrorCode: '' })
  }
  const body = JSON.stringify({ organizationId: service.organizationId })
  return { submit: submitted.status, query: (await service.root.raw(WHOAMI, body)).status }
}

let names = 0
const newName = () => `tag ${names++}`

/** Runs `quorate serve --json`, and gives what it says when it answers. */
async function serve(args: readonly string[]) {
  const main = builtMain()
  const child = spawn(process.execPath, [main, 'serve', '--json', '--folder', join(testFolder(), 'service'), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const [line] = (await Promise.race([once(child.stdout, 'data'), exit])) as [Buffer]
  return JSON.parse(String(line)) as { readonly baseUrl: string; readonly metricsUrl?: string }
}

describe('operators: readiness', () => {
  test('operators: a service that takes submits is ready, and asking so often costs one commit in a while', async () => {
    const service = await start()
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
    for (let i = 0; i < 20; i++) expect(await ready(service.url)).toEqual({ status: 200 })
    expect((await fetch(`${service.url}/readyz`)).headers.get('cache-control')).toBe('no-store')
  })

  test('operators: below the watermark submits are refused to be sent again, queries and liveness go on', async () => {
    const service = await start({ diskWatermark: { percent: 100 } })
    expect(await ask(service)).toEqual({ submit: 503, query: 200 })
    expect(await ready(service.url)).toEqual({ status: 503, reasons: ['disk-below-watermark'] })
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  })

  test('operators: a data folder that is gone takes no submit that nobody would find again', async () => {
    const service = await start()
    expect(await ready(service.url)).toEqual({ status: 200 })
    rmSync(service.dataDir, { recursive: true })
    await expect.poll(() => ask(service)).toEqual({ submit: 503, query: 200 })
    expect((await ready(service.url)).reasons).toContain('data-folder-unreachable')
  })

  test('operators: a service that ends is not ready while it finishes a submit: it takes no connection', async () => {
    const asked = Promise.withResolvers<void>()
    const found = Promise.withResolvers<readonly string[]>()
    const resolveHost = () => {
      asked.resolve()
      return found.promise
    }
    const service = await start({ resolveHost })
    const url = 'https://slow.test/'
    const submitted = service.root.submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url, name: 'w' })
    await asked.promise
    const closed = service.service.close()
    await expect(fetch(`${service.url}/readyz`)).rejects.toThrow('fetch failed')
    found.resolve(['1.1.1.1'])
    expect((await submitted).status).toBe('ACTIVITY_STATUS_COMPLETED')
    await closed
  })

  test('operators: the watermark is set as bytes or as a share; anything else is no number', async () => {
    const low = await serve(['--disk-watermark', '100%'])
    expect(await ready(low.baseUrl)).toEqual({ status: 503, reasons: ['disk-below-watermark'] })
    for (const wrong of ['101%', '-1', '64m', '%', '']) {
      const { exit, stderr } = await quorate(['serve', '--disk-watermark', wrong, '--folder', join(testFolder(), 'x')])
      expect(exit).toBe(1)
      expect(stderr).toContain('expected --disk-watermark to be bytes or a share such as 5%')
    }
  })
})

/** A service and the lines that it logged of requests, by level. */
async function startLogged(options: Partial<ServiceOptions> = {}) {
  const lines: Readonly<Record<string, unknown>>[] = []
  const all: string[] = []
  const noteAs = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    all.push(JSON.stringify({ message, fields }))
    if (message === 'request') lines.push({ level, ...fields })
  }
  const logger = { debug: noteAs('debug'), info: noteAs('info'), warn: noteAs('warn'), error: noteAs('error') }
  const service = await start({ ...options, logger })
  /** The next line of a request; it comes when the connection has taken the answer. */
  const next = async () => {
    await expect.poll(() => lines.length).toBeGreaterThan(0)
    return lines.shift()!
  }
  return { service, lines, next, text: () => all.join('\n') }
}

describe('operators: request lines', () => {
  test('operators: a line says who asked what of which organization, from where, and what became of it', async () => {
    const { service, next } = await startLogged()
    const { organizationId, rootUserId: userId } = service
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'mine', userIds: [] })
    const answer = await service.root.raw(path, text)
    const { id: activityId } = answer.body['activity'] as { id: string }
    const common = { level: 'info', method: 'POST', source: '127.0.0.1', ms: expect.any(Number) }
    expect(await next()).toEqual({
      ...common,
      requestId: answer.headers.get('x-request-id'),
      route: '/public/v1/submit/create_user_tag',
      status: 200,
      organizationId,
      userId,
      activityId,
      activityStatus: 'ACTIVITY_STATUS_COMPLETED',
    })
    const asked = await service.root.raw(WHOAMI, JSON.stringify({ organizationId }))
    const requestId = asked.headers.get('x-request-id')
    expect(await next()).toEqual({ ...common, requestId, route: WHOAMI, status: 200, organizationId, userId })
  })

  test('operators: a refusal has its code and reason, who is known, and the activity that is kept of it', async () => {
    const { service, next } = await startLogged()
    const mallory = await createTestUser(service, 'mallory')
    await next()
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'hers', userIds: [] })
    expect((await mallory.client.raw(path, text)).status).toBe(403)
    expect(await next()).toMatchObject({
      status: 403,
      code: 7,
      reason: 'REQUEST_NOT_AUTHORIZED',
      organizationId: service.organizationId,
      userId: mallory.userId,
      activityId: expect.any(String),
      activityStatus: 'ACTIVITY_STATUS_FAILED',
    })
    // The same bytes are only counted.
    expect((await mallory.client.raw(path, text)).status).toBe(403)
    const counted = await next()
    expect(counted).toMatchObject({ status: 403, userId: mallory.userId })
    expect(counted).not.toHaveProperty('activityId')
    // Nobody is named whose stamp it is not.
    const claimed = JSON.stringify({ organizationId: service.organizationId })
    await fetch(`${service.url}${WHOAMI}`, { method: 'POST', body: claimed })
    const stranger = await next()
    expect(stranger).toMatchObject({ status: 401, code: 16, reason: expect.stringMatching(/^\w+$/) })
    expect(stranger).not.toHaveProperty('organizationId')
    expect(stranger).not.toHaveProperty('userId')
  })

  test('operators: what no route takes is told shortened, without its query string, and what Fastify refuses too', async () => {
    const { service, next, text } = await startLogged()
    await fetch(`${service.url}/${'long'.repeat(500)}?secret=planted`, { method: 'POST', body: '{"a":"planted"}' })
    const unknown = await next()
    expect(unknown).toMatchObject({ status: 404, code: 5, method: 'POST' })
    expect(unknown).not.toHaveProperty('route')
    expect(String(unknown['path'])).toHaveLength(200)
    await fetch(`${service.url}/%zz`)
    expect(await next()).toMatchObject({ status: 404, path: '/%zz', source: '127.0.0.1' })
    await fetch(`${service.url}/healthz`)
    expect(await next()).toMatchObject({ level: 'debug', status: 200, route: '/healthz' })
    expect(text()).not.toContain('planted')
  })

  test('operators: a source that is no address is unknown, whatever a proxy passes on', async () => {
    const { service, next } = await startLogged({ trustedProxies: ['127.0.0.1'] })
    for (const [forwarded, source] of [
      ['192.0.2.7', '192.0.2.7'],
      ['2001:db8::7', '2001:db8::7'],
      ['\u00e9[31m planted', 'unknown'],
      ['x'.repeat(4_000), 'unknown'],
    ] as const) {
      await fetch(`${service.url}/nothing`, { headers: { 'x-forwarded-for': forwarded } })
      expect(await next()).toMatchObject({ status: 404, source })
    }
  })

  test('operators: a submit whose client does not wait for the answer has its line, with what became of it', async () => {
    const asked = Promise.withResolvers<void>()
    const found = Promise.withResolvers<readonly string[]>()
    const resolveHost = () => {
      asked.resolve()
      return found.promise
    }
    const { service, lines } = await startLogged({ resolveHost })
    const url = 'https://slow.test/'
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url, name: 'w' })
    const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
    const { name, value } = await stamper.stamp(Buffer.from(text))
    const connection = await open(service.url)
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${name}: ${value}\r\nContent-Length: ${text.length}\r\n\r\n`
    connection.write(head + text)
    await asked.promise
    connection.socket.destroy()
    await connection.ended
    // By then the service has seen that the connection is gone.
    await ready(service.url)
    const ofSubmit = () => lines.find(({ route }) => route === path)
    expect(ofSubmit()).toBeUndefined()
    found.resolve(['1.1.1.1'])
    await expect.poll(ofSubmit).toMatchObject({
      status: 200,
      cut: true,
      source: '127.0.0.1',
      activityStatus: 'ACTIVITY_STATUS_COMPLETED',
    })
  })
})

/** What is read at a service's metrics: the text, and a number by its name and labels, 0 where there is none. */
async function readMetrics(url: string) {
  const response = await fetch(url)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  const text = await response.text()
  const numbers = new Map(
    text
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
  return { text, number: (name: string) => numbers.get(name) ?? 0 }
}

describe('operators: metrics', () => {
  test('operators: metrics count what was done and refused, and name no organization, user or path', async () => {
    const service = await start({ metricsPort: 0, rates: { sends: 1, source: 20 }, logLinesLost: () => 7 })
    const url = service.service.metricsUrl!
    const mallory = await createTestUser(service, 'mallory')
    const { path, text: body } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'hers', userIds: [] })
    for (let i = 0; i < 3; i++) expect((await mallory.client.raw(path, body)).status).toBe(403)
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
    await fetch(`${service.url}/planted-path`)
    let refused = 0
    // A machine that is busy takes them so slowly that none is too many, and then more.
    while (refused === 0) {
      const asked = Array.from({ length: 150 }, () => fetch(`${service.url}${WHOAMI}`, { method: 'POST', body: '{}' }))
      refused = (await Promise.all(asked)).filter(({ status }) => status === 429).length
    }
    const limited = 'quorate_requests_total{route="query/whoami",status="429",reason="RATE_LIMIT_EXCEEDED"}'
    await expect.poll(async () => (await readMetrics(url)).number(limited)).toBe(refused)
    const { text, number } = await readMetrics(url)
    const tag = 'route="submit/create_user_tag"'
    expect(number(`quorate_requests_total{${tag},status="200",reason=""}`)).toBe(1)
    expect(number(`quorate_requests_total{${tag},status="403",reason="REQUEST_NOT_AUTHORIZED"}`)).toBe(3)
    expect(number(`quorate_request_duration_seconds_count{${tag}}`)).toBe(4)
    expect(number('quorate_requests_total{route="none",status="404",reason="NotFound"}')).toBe(1)
    expect(number('quorate_denials_total{outcome="kept"}')).toBe(1)
    expect(number('quorate_denials_total{outcome="counted"}')).toBe(2)
    expect(number('quorate_rate_refusals_total{rate="source"}')).toBe(refused)
    expect(number('quorate_log_lines_lost_total')).toBe(7)
    // What every submit is decided by, the user who was made among them.
    expect(number('quorate_policy_steps_count')).toBeGreaterThanOrEqual(5)
    expect(
      [...text.matchAll(/^quorate_(?:sends|webhook_deliveries)\{state="(.+)"\} 0$/gm)].map(([, state]) => state),
    ).toEqual([...['waiting', 'given up'], ...['initialized', 'broadcasting', 'in block']])
    expect(number('quorate_store_round_writes_sum')).toBeGreaterThanOrEqual(5)
    expect(number('quorate_store_round_seconds_count')).toBe(number('quorate_store_round_writes_count'))
    expect(number('quorate_connections{server="api"}')).toBeGreaterThan(0)
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds']) {
      expect(number(name)).toBeGreaterThan(0)
    }
    for (const secret of [service.organizationId, service.rootUserId, mallory.userId, 'planted', '/public/']) {
      expect(text).not.toContain(secret)
    }
  })

  test('operators: metrics are off unless a port is given, and never at the port of tenants', async () => {
    const without = await start()
    expect(without.service.metricsUrl).toBeUndefined()
    expect((await fetch(`${without.url}/metrics`)).status).toBe(404)
    const service = await start({ metricsPort: 0 })
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
    const { port, hostname, origin } = new URL(service.service.metricsUrl!)
    expect(hostname).toBe('127.0.0.1')
    expect((await fetch(`${origin}/healthz`)).status).toBe(404)
    expect((await fetch(`${origin}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405)
    // A page whose name was made to lead here asks for its own name.
    const connection = await open(`http://127.0.0.1:${port}`)
    connection.write('GET /metrics HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n')
    expect(await connection.ended).toMatch(/^HTTP\/1.1 421 /)
    await service.service.close()
    await expect(fetch(service.service.metricsUrl!)).rejects.toThrow('fetch failed')
  })

  test('operators: the CLI says where metrics are, and they stand in the documents as they are', async () => {
    const { metricsUrl } = await serve(['--metrics-port', '0'])
    const { text } = await readMetrics(metricsUrl!)
    const helps = [...text.matchAll(/^# HELP (\w+) (.+)\n# TYPE \w+ (\w+)$/gm)]
    expect(helps.length).toBeGreaterThan(15)
    const rows = helps.map(([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |`)
    const written = readFileSync(join(import.meta.dirname, '../../docs/reliability.md'), 'utf8')
    expect([...written.matchAll(/^\| `(?:quorate|process)_.*$/gm)].map(([row]) => row).sort()).toEqual(rows.sort())
  })

  test('operators: metrics count connections that are one too many, open ones, and dear parts of requests', async () => {
    const service = await start({ metricsPort: 0, limits: { connections: 3 } })
    const held = await Promise.all(Array.from({ length: 8 }, () => open(service.url)))
    onTestFinished(() => {
      for (const { socket } of held) socket.destroy()
    })
    const url = service.service.metricsUrl!
    await expect
      .poll(async () => (await readMetrics(url)).number('quorate_connections_refused_total{server="api"}'))
      .toBe(5)
    expect((await readMetrics(url)).number('quorate_connections{server="api"}')).toBe(3)
    for (const { socket } of held) socket.destroy()
    await expect.poll(async () => (await readMetrics(url)).number('quorate_connections{server="api"}')).toBe(0)
    const accounts = Array.from({ length: 60 }, (_, i) => ({
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: `m/44'/60'/0'/0/${i}`,
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    }))
    await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'many', accounts })
    expect((await readMetrics(url)).number('quorate_jobs_done_total')).toBeGreaterThan(0)
  })

  test('operators: two services of one process count apart', async () => {
    const [one, other] = [await start({ metricsPort: 0 }), await start({ metricsPort: 0 })]
    await ask(one)
    const whoami = 'quorate_requests_total{route="query/whoami",status="200",reason=""}'
    await expect.poll(async () => (await readMetrics(one.service.metricsUrl!)).number(whoami)).toBe(1)
    expect((await readMetrics(other.service.metricsUrl!)).number(whoami)).toBe(0)
  })
})

describe.skipIf(process.getuid?.() !== 0)('operators: a small disk (needs root for a tmpfs)', () => {
  function smallDisk(): SmallDisk {
    const disk = createSmallDisk('16m')
    onTestFinished(() => disk.remove())
    return disk
  }
  const fill = ({ folder }: SmallDisk, left: number) => {
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(join(folder, 'filling'), Buffer.alloc(bavail * bsize - left))
  }

  test('operators: submits are refused before the disk is full, and taken again when there is room', async () => {
    const disk = smallDisk()
    const service = await start({ dataDir: join(disk.folder, 'data'), diskWatermark: { bytes: 4_194_304 } })
    expect([await ask(service), await ready(service.url)]).toEqual([{ submit: 200, query: 200 }, { status: 200 }])
    fill(disk, 4_000_000)
    await expect.poll(() => ready(service.url)).toEqual({ status: 503, reasons: ['disk-below-watermark'] })
    expect(await ask(service)).toEqual({ submit: 503, query: 200 })
    // There is room for what the service itself writes.
    const { bavail, bsize } = statfsSync(disk.folder)
    expect(bavail * bsize).toBeGreaterThan(3_000_000)
    rmSync(join(disk.folder, 'filling'))
    await expect.poll(() => ready(service.url)).toEqual({ status: 200 })
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
  })

  test('operators: a store that cannot be written is not ready while nobody submits, and is again with room', async () => {
    const disk = smallDisk()
    const { service, lines } = await startLogged({
      dataDir: join(disk.folder, 'data'),
      diskWatermark: { bytes: 0 },
      metricsPort: 0,
    })
    fill(disk, 0)
    lines.length = 0
    await expect
      .poll(() => ready(service.url), { interval: 500 })
      .toEqual({ status: 503, reasons: ['store-not-writable'] })
    expect((await ask(service)).submit).toBe(503)
    const failures = (await readMetrics(service.service.metricsUrl!)).number('quorate_store_round_failures_total')
    expect(failures).toBeGreaterThan(0)
    // What was not committed is told of by nobody.
    const isSubmit = ({ route }: Readonly<Record<string, unknown>>) => String(route).includes('/submit/')
    await expect.poll(() => lines.find(isSubmit)).toMatchObject({ status: 503, reason: 'Unavailable' })
    expect(lines.find(isSubmit)).toMatchObject({ userId: service.rootUserId })
    expect(lines.find(isSubmit)).not.toHaveProperty('activityId')
    rmSync(join(disk.folder, 'filling'))
    await expect.poll(() => ready(service.url), { interval: 500 }).toEqual({ status: 200 })
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
  })
})
