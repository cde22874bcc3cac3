import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createListener } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomBytes } from '../../../src/crypto/index.ts'
import { createSealing } from '../../../src/service/keys/index.ts'
import { createWebhookUrlRules } from '../../../src/service/network/webhook-url.ts'
import { attemptDelivery } from '../../../src/service/outbox/attempt.ts'
import type { DueDelivery } from '../../../src/service/resources/webhook-endpoints/deliveries-store.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { Refused, startTestService, type TestService } from '../harness.ts'
import { startReceiver } from './receiver.ts'

/** What a resolver says of names that somebody could have set up. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'inside.test': ['127.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'both.test': ['93.184.216.34', '127.0.0.1'],
  'translated.test': ['64:ff9b::7f00:1'],
}
const resolveHost = async (host: string) => NAMES[host] ?? []

/** Counts connections, on every address of this machine. */
let canary: { readonly port: number; hits(): number; close(): Promise<void> }
let service: TestService
beforeAll(async () => {
  let hits = 0
  const server = createListener((socket) => {
    hits++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '::', resolve))
  const { port } = server.address() as AddressInfo
  canary = { port, hits: () => hits, close: () => new Promise((resolve) => server.close(() => resolve())) }
  service = await startTestService({ resolveHost })
})
afterAll(async () => {
  await service.close()
  await canary.close()
})

/** Hosts, by how they are written; the port is the canary's. */
const HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1'],
  ...['017700000001', '0x7f.1', '127.0.0.1.', '%31%32%37.0.0.1', '１２７.０.０.１', '①②⑦.0.0.1', '127。0。0。1'],
  ...['0', '0.0.0.0', 'localhost', 'localhost.', 'LOCALHOST', 'a.localhost', 'a.localhost.'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]'],
  ...[
    '[::7f00:1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[fd00::1]',
    '[fe80::1]',
    '[ff02::1]',
  ],
  ...['169.254.169.254', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '198.18.0.1', '224.0.0.1'],
  ...['255.255.255.255', '192.0.2.1', '203.0.113.1', ...Object.keys(NAMES)],
]
const urls = () => [
  ...HOSTS.map((host) => `https://${host}:${canary.port}/`),
  `https://user:pass@93.184.216.34@127.0.0.1:${canary.port}/`,
  ...['http', 'ftp', 'gopher', 'ws', 'file'].map((scheme) => `${scheme}://127.0.0.1:${canary.port}/`),
]

const delivery = (url: string): DueDelivery => ({
  event_id: 'event',
  organization_id: 'organization',
  endpoint_id: 'endpoint',
  position: 1,
  event_type: 'SEND_TRANSACTION_STATUS_UPDATES',
  subject: null,
  body: '{}',
  attempts: 0,
  reason: null,
  next_attempt_at: 0,
  created_at: 0,
  url,
})
const keys = {
  published: () => ({ keys: [] }),
  withKey: <Result>(use: (key: { keyId: string; seed: Uint8Array }) => Result) =>
    use({ keyId: 'key', seed: new Uint8Array(32).fill(7) }),
}
function attempt(url: string, rules: ReturnType<typeof createWebhookUrlRules>) {
  const sealing = createSealing(new Secret(new Uint8Array(32)), randomBytes)
  const tools = { clock: () => 1_750_000_000_000, keys, sealing, findPlace: rules.findPlace }
  return attemptDelivery(tools, delivery(url), new AbortController().signal)
}

describe('what webhooks reach', () => {
  test('what webhooks reach: the canary counts who comes to it', async () => {
    const before = canary.hits()
    for (const host of ['127.0.0.1', '127.255.255.254', '[::1]']) {
      await fetch(`http://${host}:${canary.port}/`).catch(() => {})
    }
    expect(canary.hits() - before).toBeGreaterThanOrEqual(2)
  })

  test('what webhooks reach: no address of this machine or of its network, however it is written', async () => {
    const before = canary.hits()
    const given = urls()
    const rules = createWebhookUrlRules({ resolveHost, allowedHosts: [] })
    const counts = { urls: given.length, refusedAtCreation: 0, refusedAtDelivery: 0 }
    for (const url of given) {
      const created = await service.root
        .submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url, name: 'x', subscriptions: [] })
        .catch((error: unknown) => error)
      if (created instanceof Refused && created.status === 400) counts.refusedAtCreation++
      else expect(`${url} was taken`).toBe('')
      const verdict = await attempt(url, rules)
      expect([url, verdict]).toEqual([url, expect.objectContaining({ kind: 'failed', isFinal: true })])
      counts.refusedAtDelivery++
    }
    console.log(
      `${Object.entries(counts)
        .map(([name, count]) => `${name}=${count}`)
        .join(' ')} hits=${canary.hits() - before}`,
    )
    expect(counts).toEqual({ urls: given.length, refusedAtCreation: given.length, refusedAtDelivery: given.length })
    expect(given.length).toBeGreaterThan(50)
    expect(canary.hits()).toBe(before)
  })

  test('what webhooks reach: not what a name has come to mean since it was checked', async () => {
    const before = canary.hits()
    let asked = 0
    const turning = async () => (asked++ === 0 ? ['93.184.216.34'] : ['127.0.0.1'])
    const rules = createWebhookUrlRules({ resolveHost: turning, allowedHosts: [] })
    const url = `https://turning.test:${canary.port}/`
    await rules.check(url, 'url', 'org')
    expect(await attempt(url, rules)).toEqual({
      kind: 'failed',
      reason: 'its URL must name a public host, not `turning.test`',
      isFinal: true,
    })
    expect({ asked, hits: canary.hits() - before }).toEqual({ asked: 2, hits: 0 })
  })

  test('what webhooks reach: the address that was judged, and the name is not looked up again to dial', async () => {
    const receiver = await startReceiver()
    let asked = 0
    const resolveOnce = async () => {
      asked++
      return ['127.0.0.1']
    }
    const { port } = new URL(receiver.url)
    const rules = createWebhookUrlRules({ resolveHost: resolveOnce, allowedHosts: ['pinned.test'] })
    const verdict = await attempt(`http://pinned.test:${port}/`, rules)
    await receiver.close()
    expect(verdict).toEqual({ kind: 'delivered', status: 200 })
    expect(receiver.received.map(({ headers }) => headers.host)).toEqual([`pinned.test:${port}`])
    expect(asked).toBe(1)
  })

  test('what webhooks reach: a name without addresses is tried again', async () => {
    const rules = createWebhookUrlRules({ resolveHost, allowedHosts: [] })
    expect(await attempt('https://gone.test/', rules)).toEqual({
      kind: 'failed',
      reason: 'its URL must name a host that can be found, not `gone.test`',
      isFinal: false,
    })
  })

  test('what webhooks reach: of an answer without end no more than a few kB are taken', async () => {
    let written = 0
    const closed = Promise.withResolvers<void>()
    const endless = createServer((_request, response) => {
      response.on('close', closed.resolve)
      const write = () => {
        while (!response.closed && response.write(Buffer.alloc(1_024))) written += 1_024
      }
      response.writeHead(200).on('drain', write)
      write()
    })
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
    const { port } = endless.address() as AddressInfo
    const rules = createWebhookUrlRules({ resolveHost, allowedHosts: ['127.0.0.1'] })
    expect(await attempt(`http://127.0.0.1:${port}/`, rules)).toEqual({ kind: 'delivered', status: 200 })
    await closed.promise
    endless.close()
    // What the system's buffers took is not more than some hundred kB.
    expect(written).toBeLessThan(8_000_000)
  })
})
