import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { pauseAfter } from '../../../src/service/outbox/schedule.ts'
import type { Logger } from '../../../src/telemetry/index.ts'
import { line } from '../../reliability/figures.ts'
import { addTenants, complete } from '../handlers/steps.ts'
import { createTestClock, startTestService, type TestClient, type TestService } from '../harness.ts'
import { rowsOf } from '../rows.ts'
import { SEPOLIA } from '../sends/status.ts'
import { accountsOf, ETHEREUM } from '../signing/keys.ts'
import { fetchKeys, type Received, type Reply, startReceiver, subscribe, verdictOf } from './receiver.ts'
import { startWrongNode, type WrongNode } from './wrong-node.ts'

const HOUR = 3_600_000
/** After each attempt that failed. */
const PAUSES_S = [10, 30, 120, 600, 1_800, 3_600, 10_800, 21_600]
const RETRIES = PAUSES_S.length

let node: WrongNode
beforeAll(async () => {
  node = await startWrongNode()
})
afterAll(() => node.close())

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(reply?: (received: Received, times: number) => Reply, options: { tls?: Keys } = {}) {
  const receiver = await startReceiver(reply, options.tls)
  closers.push(() => receiver.close())
  const clock = createTestClock()
  const lines: string[] = []
  const say = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger: Logger = { debug: say, info: say, warn: say, error: say }
  const settings = {
    chains: { [SEPOLIA]: { url: node.url, pollMs: 20 } },
    allowedWebhookHosts: [receiver.host],
    clock,
    logger,
    rotateWebhookKey: false,
    metricsPort: 0,
  }
  const service = await startTestService(settings)
  closers.push(() => service.close())
  return { receiver, service, clock, lines, settings, happen: await createHappening(service) }
}

/** What makes one event happen. */
async function createHappening({
  root,
  organizationId,
}: {
  root: TestClient
  organizationId: string
}): Promise<() => Promise<unknown>> {
  const wallet = { walletName: 'w', accounts: accountsOf(ETHEREUM) }
  const { addresses } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, organizationId)
  const parameters = { from: addresses[0]!, to: addresses[0]!, value: '1', caip2: SEPOLIA }
  return () => complete(root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parameters, organizationId)
}

const countOf = (received: readonly Received[], path: string) => received.filter((each) => each.path === path).length
const tableOf = (service: TestService, table: string) => rowsOf(service.dataDir, `select * from ${table}`)
async function untilEmpty(service: TestService): Promise<void> {
  while ((await tableOf(service, 'webhook_deliveries')).length > 0) await pause(20)
}

interface Keys {
  readonly key: string
  readonly cert: string
}
/** A certificate of 127.0.0.1 that nobody has signed. */
function selfSigned(): Keys {
  const ask = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=receiver -keyout - -out -'
  const args = [...ask.split(' '), '-addext', 'subjectAltName=IP:127.0.0.1']
  const text = execFileSync('openssl', ['req', ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const part = (name: string) => new RegExp(`-----BEGIN ${name}-----[^]*?-----END ${name}-----`).exec(text)![0]
  return { key: part('PRIVATE KEY'), cert: part('CERTIFICATE') }
}

describe('deliveries', () => {
  test('deliveries: a pause after each failure, a fifth more or less, and after eight none', () => {
    const [least, most] = [0, 255].map((byte) =>
      Array.from({ length: 9 }, (_, failed) => pauseAfter(failed + 1, (length) => new Uint8Array(length).fill(byte))),
    )
    const pauses = PAUSES_S.map((seconds) => seconds * 1_000)
    expect(least).toEqual([...pauses.map((ms) => ms * 0.8), undefined])
    expect(most).toEqual([...pauses.map((ms) => ms * 1.2), undefined])
  })

  test('deliveries: what succeeded, and what was refused or redirected, is not tried again; a server’s fault is, eight times', async () => {
    const hits = await startReceiver()
    closers.push(() => hits.close())
    const replies: Readonly<Record<string, Reply>> = {
      '/301': { status: 301, headers: { location: hits.url } },
      '/302': { status: 302, headers: { location: hits.url } },
      '/307': { status: 307, headers: { location: hits.url } },
      '/broken': 'reset',
      // The body of an answer is ignored, and its end is not waited for.
      '/cut': 'cut',
      '/gibberish': 'gibberish',
    }
    const { receiver, service, clock, lines, happen } = await open(
      ({ path }) => replies[path] ?? Number(/\d+/.exec(path)![0]),
    )
    const once = ['/200?token=canary', '/204', '/cut', '/301', '/302', '/307', '/400', '/401', '/404', '/410', '/429']
    const again = ['/500', '/503?token=canary', '/broken', '/gibberish']
    for (const path of [...once, ...again]) await subscribe(service.root, `${receiver.url}${path}`, { name: path })
    await happen()
    await receiver.until(once.length + again.length)
    for (let retry = 1; retry <= RETRIES; retry++) {
      // Its failure is noted before the time goes on to its next attempt.
      await untilNoted(service, again.length, retry)
      clock.advance(PAUSES_S[retry - 1]! * 1_200 + 1)
      await receiver.until(once.length + again.length * (retry + 1))
    }
    await untilEmpty(service)
    clock.advance(48 * HOUR)
    await pause(700)
    const { received } = receiver
    expect(once.map((path) => countOf(received, path))).toEqual(once.map(() => 1))
    expect(again.map((path) => countOf(received, path))).toEqual(again.map(() => 1 + RETRIES))
    expect(hits.received).toEqual([])
    const metrics = await (await fetch(service.service.metricsUrl!)).text()
    const attemptsBy = Object.fromEntries(
      [...metrics.matchAll(/^quorate_webhook_attempts_total\{outcome="(.+)"\} (\d+)$/gm)].map(([, by, n]) => [
        by,
        Number(n),
      ]),
    )
    expect(attemptsBy).toEqual({
      delivered: 3,
      'to be tried again': again.length * RETRIES,
      'given up': once.length - 3 + again.length,
    })

    const attempts = received.filter(({ path }) => path === '/500')
    const distinct = (of: (attempt: Received) => unknown) => new Set(attempts.map(of)).size
    const { host } = receiver
    expect({
      ids: distinct(({ eventId }) => eventId),
      bodies: distinct(({ bytes }) => bytes.toString()),
      times: distinct(({ headers }) => headers['x-turnkey-timestamp']),
      signatures: distinct(({ headers }) => headers['x-turnkey-signature']),
    }).toEqual({ ids: 1, bodies: 1, times: 9, signatures: 9 })
    const keys = await fetchKeys(service.url)
    const signedAt = (attempt: Received) => Number(attempt.headers['x-turnkey-timestamp'])
    expect(attempts.map((attempt) => verdictOf(attempt, keys, signedAt(attempt)))).toEqual(attempts.map(() => 'ok'))

    const failures = await tableOf(service, 'webhook_failures')
    expect(failures.map(({ host: at, reason, attempts: made }) => `${at} ${reason} ${made}`).toSorted()).toEqual(
      [
        ...['301', '302', '307', '400', '401', '404', '410', '429'].map((status) => `answered ${status} 1`),
        ...['answered 500 9', 'answered 503 9', 'could not be reached: ECONNRESET 9'],
        'could not be reached: HPE_INVALID_CONSTANT 9',
      ].map((text) => `${host} ${text}`),
    )
    expect(lines.filter((line) => line.startsWith('webhook given up'))).toHaveLength(failures.length)
    expect(lines.filter((line) => line.startsWith('webhook delivered'))).toHaveLength(3)
    expect(lines.filter((line) => /canary|idempotencyKey|[0-9a-f]{128}/.test(line))).toEqual([])
  })

  test('deliveries: what a deleted or paused endpoint was still to be told is dropped', async () => {
    const { receiver, service, clock, happen } = await open(() => 503)
    const ids = []
    for (const name of ['deleted', 'paused', 'kept']) {
      ids.push(await subscribe(service.root, `${receiver.url}/${name}`, { name }))
    }
    await happen()
    await untilNoted(service, 3, 1)
    const [deleted, paused] = ids
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT', { endpointId: deleted })
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', { endpointId: paused, isActive: false })
    expect(await tableOf(service, 'webhook_deliveries')).toMatchObject([{ endpoint_id: ids[2] }])
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', { endpointId: paused, isActive: true })
    clock.advance(HOUR)
    await receiver.until(4)
    await untilNoted(service, 1, 2)
    expect(['/deleted', '/paused', '/kept'].map((path) => countOf(receiver.received, path))).toEqual([1, 1, 2])
  })

  test('deliveries: what waits is delivered after a restart, by the same id, unless its host is no longer allowed', async () => {
    let status = 503
    const { receiver, service, clock, settings, lines, happen } = await open(() => status)
    const warning = `webhooks may go to hosts that are not public {"allowedHosts":["${receiver.host}"]}`
    expect(lines.filter((line) => line === warning)).toHaveLength(1)
    await subscribe(service.root, receiver.url)
    await happen()
    await untilNoted(service, 1, 1)
    await service.restart()
    status = 200
    clock.advance(HOUR)
    await untilEmpty(service)
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(1)
    expect(receiver.received).toHaveLength(2)

    status = 503
    await happen()
    await untilNoted(service, 1, 1)
    settings.allowedWebhookHosts = []
    await service.restart()
    clock.advance(HOUR)
    await untilEmpty(service)
    expect(receiver.received).toHaveLength(3)
    expect(await tableOf(service, 'webhook_failures')).toMatchObject([
      { attempts: 2, reason: 'its URL must be an https URL', host: receiver.host },
    ])
    expect(lines.at(-1)).toMatch(/^webhook given up /)
    // At the first two starts, and not at the third.
    expect(lines.filter((line) => line === warning)).toHaveLength(2)
  })

  test('deliveries: what has waited for more than a day is given up unasked', async () => {
    const { receiver, service, clock, happen } = await open(() => 503)
    await subscribe(service.root, receiver.url)
    await happen()
    await untilNoted(service, 1, 1)
    clock.advance(24 * HOUR + 1)
    await untilEmpty(service)
    expect(receiver.received).toHaveLength(1)
    expect(await tableOf(service, 'webhook_failures')).toMatchObject([
      { attempts: 1, reason: 'waited for more than a day' },
    ])
  })

  test('deliveries: an attempt that is not answered within ten seconds has failed, and is made again', async () => {
    const { receiver, service, clock, lines, happen } = await open((_, times) => (times === 1 ? 'never' : 200))
    await subscribe(service.root, receiver.url)
    await happen()
    await receiver.until(1)
    const askedAt = performance.now()
    await untilNoted(service, 1, 1)
    expect(performance.now() - askedAt).toBeGreaterThan(9_000)
    expect(lines.at(-1)).toContain('no answer in time')
    clock.advance(PAUSES_S[0]! * 1_200 + 1)
    await receiver.until(2)
    await untilEmpty(service)
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(1)
    expect(await tableOf(service, 'webhook_failures')).toEqual([])
  })

  test('deliveries: a service closes while somebody does not answer, and tells it again when it is back', async () => {
    let answers = false
    const { receiver, service, happen } = await open(() => (answers ? 200 : 'never'))
    await subscribe(service.root, receiver.url)
    await happen()
    await receiver.until(1)
    answers = true
    await service.restart()
    // The clock stands still: one that had waited for the answer would try again only later.
    await untilEmpty(service)
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(1)
    expect(await tableOf(service, 'webhook_failures')).toEqual([])
  })

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
    'deliveries: by https, to an endpoint with a certificate that is trusted',
    async () => {
      const keys = selfSigned()
      const { receiver, service, clock, lines, happen } = await open(() => 200, { tls: keys })
      await subscribe(service.root, receiver.url)
      await happen()
      await untilNoted(service, 1, 1)
      expect(lines.at(-1)).toContain('could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT')
      const trusted = tls.getCACertificates('default')
      tls.setDefaultCACertificates([...trusted, keys.cert])
      try {
        clock.advance(HOUR)
        await untilEmpty(service)
      } finally {
        tls.setDefaultCACertificates(trusted)
      }
      expect(receiver.received).toHaveLength(1)
      expect(verdictOf(receiver.received[0]!, await fetchKeys(service.url), clock())).toBe('ok')
    },
  )

  test('deliveries: where clocks are apart, what the log says of the refusal says so', async () => {
    const refusal = () => ({ status: 401, headers: { date: new Date().toUTCString() } })
    const { receiver, service, clock, lines, happen } = await open((one) =>
      verdictOf(one, keys) === 'ok' ? 200 : refusal(),
    )
    const keys = await fetchKeys(service.url)
    clock.advance(Date.now() - clock() + 600_000)
    await subscribe(service.root, receiver.url)
    await happen()
    await receiver.until(1)
    await untilEmpty(service)
    expect(verdictOf(receiver.received[0]!, keys)).toBe('stale_timestamp')
    expect(lines.at(-1)).toMatch(
      /^webhook given up .*"reason":"answered 401, with a clock (5\d\d|60[01]) s behind this one"/,
    )
  })
})

describe('an endpoint that does not answer', () => {
  test('an endpoint that does not answer, and one that is not there, hold up none of the 48 beside them', async () => {
    const { receiver, service, happen, clock, settings } = await open(({ path }) =>
      path.startsWith('/slow') ? 'never' : 200,
    )
    clock.advance(Date.now() - clock())
    const dead = await startReceiver()
    await dead.close()
    settings.allowedWebhookHosts = [receiver.host, dead.host]
    const others = (await addTenants(service, 2)).map((tenant) => ({ ...tenant, root: tenant.client }))
    const owners = [{ root: service.root, organizationId: service.organizationId }, ...others]
    const happenings = [happen, ...(await Promise.all(others.map(createHappening)))]
    for (let index = 0; index < 48; index++) {
      const { root, organizationId } = owners[index % 3]!
      await subscribe(root, `${receiver.url}/${index}`, { name: `${index}`, organizationId })
    }
    const delaysOf = async (rounds: number) => {
      const delays: number[] = []
      for (let round = 0; round < rounds; round++) {
        const before = receiver.received.length
        const begun = Date.now()
        await Promise.all(happenings.map((one) => one()))
        const quick = () => receiver.received.slice(before).filter(({ path }) => path !== '/slow')
        await receiver.until(() => quick().length === 48)
        delays.push(...quick().map(({ at }) => at - begun))
      }
      const sorted = delays.toSorted((a, b) => a - b)
      return {
        deliveries: sorted.length,
        p50: sorted[sorted.length >> 1]!,
        p99: sorted[Math.ceil(sorted.length * 0.99) - 1]!,
      }
    }
    const calm = await delaysOf(3)
    await subscribe(service.root, `${receiver.url}/slow`, { name: 'slow' })
    await subscribe(service.root, dead.url, { name: 'dead' })
    const beside = await delaysOf(6)
    console.log(`without ${line(calm)}, beside ${line(beside)} ms`)
    // What a machine takes that has other things to do; one that waited would wait for ten seconds.
    expect(beside.p99).toBeLessThan(Math.max(8_000, 3 * calm.p99))
    expect(countOf(receiver.received, '/slow')).toBeGreaterThan(0)
  })
})

describe('keys of webhooks', () => {
  const list = async (service: TestService) => {
    const response = await fetch(`${service.url}/public/v1/discovery/webhooks/jwks`)
    const { keys } = (await response.json()) as { keys: { kid: string }[] }
    return { headers: response.headers, keys: keys.map(({ kid }) => kid) }
  }

  test('keys of webhooks: they are public, may be kept for a day, and stay', async () => {
    const { service } = await open()
    const { headers, keys } = await list(service)
    expect(keys).toHaveLength(1)
    expect(headers.get('cache-control')).toBe('public, max-age=86400, s-maxage=86400, stale-if-error=604800')
    expect([headers.get('content-type'), headers.get('access-control-allow-origin')]).toEqual(['application/json', '*'])
    await service.restart()
    expect((await list(service)).keys).toEqual(keys)
  })

  test('keys of webhooks: the next one is listed a day before it signs, what is tried again then too, and the old one a day longer', async () => {
    let status = 503
    const { receiver, service, clock, settings, happen } = await open(() => status)
    await subscribe(service.root, receiver.url)
    const [first] = (await list(service)).keys
    settings.rotateWebhookKey = true
    await service.restart()
    const { keys } = await list(service)
    expect(keys).toEqual([first, expect.any(String)])
    // Asked for again while the last one waits, there is no third.
    await service.restart()
    expect((await list(service)).keys).toEqual(keys)
    settings.rotateWebhookKey = false

    clock.advance(24 * HOUR - 1_000)
    await happen()
    await untilNoted(service, 1, 1)
    clock.advance(60_000)
    status = 200
    await receiver.until(2)
    const used = receiver.received.map(({ headers }) => headers['x-turnkey-signature-key-id'])
    expect(used).toEqual(keys)
    const published = await fetchKeys(service.url)
    const signedAt = (one: Received) => Number(one.headers['x-turnkey-timestamp'])
    expect(receiver.received.map((one) => verdictOf(one, published, signedAt(one)))).toEqual(['ok', 'ok'])

    clock.advance(24 * HOUR)
    expect((await list(service)).keys).toEqual([keys[1]])
    await service.restart()
    expect((await list(service)).keys).toEqual([keys[1]])
    expect(
      (await tableOf(service, 'service_keys')).filter(({ name }) => String(name).startsWith('webhook-')),
    ).toHaveLength(1)
  })
})

/** Waits until so many events have so many failed attempts. */
async function untilNoted(service: TestService, events: number, attempts: number): Promise<void> {
  const noted = async () =>
    (await tableOf(service, 'webhook_deliveries')).filter((row) => row['attempts'] === attempts).length
  while ((await noted()) < events) await pause(10)
}
