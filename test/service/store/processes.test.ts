/** Several services on one database of PostgreSQL: what one has answered holds in the others. */
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { encodeUtf8 } from '../../../src/encoding/index.ts'
import { queries } from '../../../src/protocol/index.ts'
import { createService } from '../../../src/service/index.ts'
import { insertWebhookDelivery } from '../../../src/service/resources/webhook-endpoints/deliveries-store.ts'
import { openPostgres } from '../../../src/service/store/index.ts'
import { createApiKeyStamper } from '../../../src/stamp/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../../postgres.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { SEND_STATUS, startReceiver, subscribe } from '../outbox/receiver.ts'
import { startProcess } from '../process.ts'

let server: TestPostgres
let url: Secret
let one: TestService
let two: TestService
const folders: string[] = []

function folderOf(masterKeyOf?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-processes-'))
  folders.push(folder)
  if (masterKeyOf !== undefined) copyFileSync(join(masterKeyOf, 'master.key'), join(folder, 'master.key'))
  return folder
}

/** Requests a second of one address, and codes of it, that the proxies of all take together. */
const [PROXY_RATE, CODES] = [60, 2]

const settings = () => ({
  database: { url, connections: 4 },
  allowedWebhookHosts: ['127.0.0.1'],
  trustedProxies: ['127.0.0.1'],
  proxy: { rate: PROXY_RATE, codesPerAddress: CODES },
})

describe.skipIf(findPostgres() === undefined)('services on one PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres()
    url = await server.create()
    one = await startTestService(settings())
    two = await joining(one)
  })
  afterAll(async () => {
    await Promise.all([one?.close(), two?.close()])
    await server.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** Another process of the same installation, whose root key is that of the first. */
  async function joining(first: TestService): Promise<TestService> {
    const dataDir = folderOf(first.dataDir)
    const joined = await createService({ ...settings(), dataDir, port: 0 })
    const text = readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')
    expect(text).not.toContain('apiPrivateKey')
    await joined.close()
    copyFileSync(join(first.dataDir, 'bootstrap.json'), join(dataDir, 'bootstrap.json'))
    return startTestService({ ...settings(), dataDir })
  }

  test('what one has answered is there in the other at once: users, policies, votes', async () => {
    const user = await createTestUser(one, 'ann')
    const there = two.client(user.client.privateKey)
    const tag = { userTagName: 'x', userIds: [] }
    await expect(there.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag)).rejects.toMatchObject({ status: 403 })
    await one.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      ...{ policyName: 'tags', effect: 'EFFECT_ALLOW', notes: '' },
      ...{
        consensus: `approvers.any(user, user.id == '${user.userId}')`,
        condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
      },
    })
    expect((await there.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    await two.root.submit('ACTIVITY_TYPE_DELETE_USERS', { userIds: [user.userId] })
    await expect(user.client.query('whoami')).rejects.toMatchObject({ status: 401 })
  })

  test('requests and codes of one address are counted over the proxies of all', async () => {
    await one.root.submit('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
    const configId = one.service.bootstrap.authProxyConfigId
    const post = async (of: TestService, path: string, from: string, body: object, config = configId) => {
      const headers = { 'x-auth-proxy-config-id': config, 'x-forwarded-for': from }
      const sent = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await fetch(`${of.service.bootstrap.authProxyUrl}/v1/${path}`, sent)).status
    }
    const alike = (count: number, ask: (of: TestService, n: number) => Promise<number>) =>
      Promise.all(Array.from({ length: count }, (_, n) => ask(n % 2 ? one : two, n)))
    const passed = (all: readonly number[]) => all.filter((status) => status === 200).length
    const code = (contact: string) => ({ otpType: 'OTP_TYPE_EMAIL', contact })
    const ofAddress = await alike(8, (of, n) => post(of, 'otp_init', '192.0.2.1', code(`a${n}@acme.test`)))
    expect(passed(ofAddress)).toBe(CODES)
    const ofContact = await alike(8, (of, n) => post(of, 'otp_init', `192.0.2.${n + 10}`, code('one@acme.test')))
    expect(passed(ofContact)).toBe(3)
    // Each has heard of the other by now: two and a half seconds at most after it came.
    await vi.waitFor(
      async () => {
        const from = `198.51.100.${Math.floor(Math.random() * 250)}`
        const begun = performance.now()
        const all = await alike(2 * PROXY_RATE + 20, (of) => post(of, 'account', from, {}, randomUUID()))
        const seconds = (performance.now() - begun) / 1_000
        expect(seconds).toBeLessThan(0.9)
        const through = all.filter((status) => status !== 429).length
        expect(through).toBeLessThanOrEqual(PROXY_RATE * (1 + seconds))
        expect(through).toBeGreaterThanOrEqual(PROXY_RATE)
      },
      { timeout: 30_000, interval: 500 },
    )
  })

  test('the keys of sessions that one ends are at an end in a process that has just believed them', async () => {
    const dataDir = folderOf(one.dataDir)
    copyFileSync(join(one.dataDir, 'bootstrap.json'), join(dataDir, 'bootstrap.json'))
    const elsewhere = await startProcess(dataDir, { databaseUrl: url.reveal() })
    try {
      const { client, userId } = await createTestUser(one, 'sam')
      const organizationId = one.organizationId
      const asks = async (privateKey: string) => {
        const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
        const tag = { userTagName: 'x', userIds: [] }
        const bodies = [
          { path: queries.whoami.path, text: JSON.stringify({ organizationId }) },
          one.body('ACTIVITY_TYPE_CREATE_USER_TAG', tag),
        ]
        return Promise.all(
          bodies.map(async ({ path, text }) => {
            const { name, value } = await stamper.stamp(encodeUtf8(text))
            const headers = { [name]: value }
            return (await fetch(`${elsewhere.url}${path}`, { method: 'POST', body: text, headers })).status
          }),
        )
      }
      const logIn = async (more: object = {}) => {
        const key = generateP256KeyPair()
        const asked = { publicKey: key.publicKey, ...more }
        const { status } = await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', asked)
        expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
        // Twice: what is remembered of a key is remembered by now.
        for (let at = 0; at < 2; at++) expect(await asks(key.privateKey)).toEqual([200, 403])
        return key
      }
      const ways: Readonly<Record<string, (key: { readonly publicKey: string }) => Promise<unknown>>> = {
        'another login': () => logIn({ invalidateExisting: true }),
        'its user': async ({ publicKey }) => {
          const { apiKeys } = await client.query('get_api_keys', { userId })
          const { apiKeyId } = apiKeys.find(({ credential }) => credential.publicKey === publicKey)!
          return client.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds: [apiKeyId] })
        },
        'ten more': async () => {
          for (let at = 0; at < 10; at++)
            await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: generateP256KeyPair().publicKey })
        },
        'the end of the user': () => one.root.submit('ACTIVITY_TYPE_DELETE_USERS', { userIds: [userId] }),
      }
      for (const [way, end] of Object.entries(ways)) {
        const key = await logIn()
        await end(key)
        expect([way, await asks(key.privateKey)]).toEqual([way, [401, 401]])
      }
    } finally {
      await elsewhere.end('SIGTERM')
    }
  })

  test('one body that is sent to both at once is one activity', async () => {
    const bodies = Array.from({ length: 12 }, (_, n) =>
      one.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `at once ${n}`, userIds: [] }),
    )
    const sent = await Promise.all(bodies.flatMap((body) => [one, two, one, two].map(({ root }) => root.send(body))))
    expect(new Set(sent.map(({ id }) => id)).size).toBe(bodies.length)
    const { userTags } = await two.root.query('list_user_tags')
    expect(userTags.filter(({ tagName }) => tagName.startsWith('at once'))).toHaveLength(bodies.length)
  })

  test('each event is delivered by one of them, and by the other once that is gone', async () => {
    const receiver = await startReceiver()
    const store = await openPostgres({ url, connections: 1 }, { now: 1 })
    try {
      const endpointId = await subscribe(one.root, receiver.url)
      let told = 0
      const tell = (count: number) =>
        store.write(async (tx) => {
          for (let n = 0; n < count; n++) {
            await insertWebhookDelivery(tx, {
              ...{ event_id: `event ${told++}`, organization_id: one.organizationId, endpoint_id: endpointId },
              ...{
                event_type: SEND_STATUS,
                subject: null,
                reason: null,
                body: '{}',
                attempts: 0,
                next_attempt_at: 1,
                created_at: Date.now(),
              },
            })
          }
        })
      const ids = () => receiver.received.map(({ headers }) => headers['x-turnkey-event-id'])
      await tell(10)
      await receiver.until(10)
      // Whoever has the lease gives it up as it closes; both have had a while to deliver what the other delivers.
      await one.service.close()
      await tell(10)
      await receiver.until(20)
      await one.restart()
      await two.service.close()
      await tell(10)
      await receiver.until(30)
      await two.restart()
      expect(new Set(ids()).size).toBe(30)
      expect(receiver.received).toHaveLength(30)
    } finally {
      await store.close()
      await receiver.close()
    }
  })

  test('a folder without the master key, with another one, or with a database of its own is refused by name', async () => {
    const start = (dataDir: string) => createService({ ...settings(), dataDir, port: 0 })
    await expect(start(folderOf())).rejects.toThrow('master.key` is missing')
    const other = await startTestService({ dataDir: folderOf(), database: { url: await server.create() } })
    await expect(start(folderOf(other.dataDir))).rejects.toMatchObject({ code: 'service/seal-broken' })
    // A folder of another installation begins none in an empty database, whose key would take the place of its own.
    await other.service.close()
    const elsewhere = { url: await server.create() }
    await expect(createService({ dataDir: other.dataDir, database: elsewhere, port: 0 })).rejects.toThrow('is empty')
    expect(readFileSync(join(other.dataDir, 'bootstrap.json'), 'utf8')).toContain('apiPrivateKey')
    const own = folderOf()
    await (await createService({ dataDir: own, port: 0 })).close()
    await expect(start(own)).rejects.toThrow('DATABASE_URL')
  })

  test('two that start at once on an empty database are one installation', async () => {
    const database = { url: await server.create() }
    const first = folderOf(one.dataDir)
    const second = folderOf(one.dataDir)
    const started = await Promise.all([first, second].map((dataDir) => createService({ dataDir, database, port: 0 })))
    expect(new Set(started.map(({ bootstrap }) => bootstrap.organizationId)).size).toBe(1)
    expect(started.filter(({ bootstrap }) => bootstrap.apiPrivateKey)).toHaveLength(1)
    await Promise.all(started.map((each) => each.close()))
  })

  test('a database server that is gone is answered with 503, and requests are taken once it is back', async () => {
    const body = two.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'through', userIds: [] })
    const seen = Promise.withResolvers<void>()
    const crashed = server.crash(seen.promise)
    await expect.poll(async () => (await two.root.raw(body.path, body.text)).status).toBe(503)
    seen.resolve()
    await crashed
    await expect.poll(async () => (await two.root.raw(body.path, body.text)).status).toBe(200)
    const { userTags } = await one.root.query('list_user_tags')
    expect(userTags.filter(({ tagName }) => tagName === 'through')).toHaveLength(1)
  })
})
