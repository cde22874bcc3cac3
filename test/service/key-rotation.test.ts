/** Another master key while the service works: everything that is sealed is sealed anew, whoever is killed meanwhile. */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { createService, readRotationOfFolder, rotateKeyOfFolder } from '../../src/service/index.ts'
import { SEALED_COLUMNS } from '../../src/service/keys/index.ts'
import { migrate } from '../../src/service/store/migrations.ts'
import type { Secret } from '../../src/telemetry/index.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../postgres.ts'
import { complete } from './handlers/steps.ts'
import { startTestService } from './harness.ts'
import { startReceiver } from './outbox/receiver.ts'
import { type ProcessClient, readClient, type ServingProcess, startProcess } from './process.ts'

const folders: string[] = []
const closers: (() => unknown)[] = []
let server: TestPostgres | undefined
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await server?.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-rotation-'))
  folders.push(folder)
  return folder
}
const keyOf = (folder: string, name = 'master.key') =>
  Buffer.from(readFileSync(join(folder, name), 'utf8').trim(), 'hex')

/** Statements against the rows of a service, beside it. */
interface Rows {
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  readonly tables: () => Promise<string[]>
  close(): Promise<void>
}

/** Opened for each statement: a service that starts must find nobody in its database. */
function sqlite(folder: string): Rows {
  const query: Rows['query'] = async (sql, values = []) => {
    const database = new DatabaseSync(join(folder, 'quorate.db'), { timeout: 5_000 })
    try {
      return database.prepare(sql.replaceAll(/\$\d+/g, '?')).all(...(values as never[]))
    } finally {
      database.close()
    }
  }
  const tables = async () =>
    (await query("select name from sqlite_schema where type = 'table'")).map(({ name }) => String(name))
  return { query, tables, close: async () => {} }
}

async function postgres(url: Secret): Promise<Rows> {
  const client = new pg.Client({ connectionString: url.reveal() })
  await client.connect()
  const query: Rows['query'] = async (sql, values = []) => (await client.query(sql, [...values])).rows
  const tables = async () =>
    (await query("select tablename as name from pg_tables where schemaname = 'public'")).map(({ name }) => String(name))
  return { query, tables, close: () => client.end() }
}

/** AES-256-GCM as docs/master-key.md has it, by Node alone: version, nonce, ciphertext, tag; the place is authenticated. */
function opens(key: Buffer, sealed: Uint8Array, place: readonly string[]): boolean {
  if (sealed.length < 29 || sealed[0] !== 1) return false
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13))
  decipher.setAAD(Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(place))]))
  decipher.setAuthTag(sealed.subarray(-16))
  try {
    decipher.update(sealed.subarray(13, -16))
    decipher.final()
    return true
  } catch {
    return false
  }
}

function sealFor(key: Buffer, plain: string, place: readonly string[]): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(place))]))
  return Buffer.concat([Buffer.of(1), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** What might be sealed in a stored value, whatever column it is in. */
function candidates(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value]
  if (typeof value !== 'string') return []
  if (value.startsWith('sealed:')) return [Buffer.from(value.slice(7), 'base64')]
  return [...value.matchAll(/"(01(?:[0-9a-f]{2}){28,})"/g)].map(([, hex]) => Buffer.from(hex!, 'hex'))
}

/** Looks through every column of every row for what a key opens, and says where it stands. */
async function openedBy(rows: Rows, keys: Readonly<Record<string, Buffer>>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = Object.fromEntries(Object.keys(keys).map((name) => [name, []]))
  for (const table of await rows.tables()) {
    for (const row of await rows.query(`select * from "${table}"`)) {
      const ids = Object.entries(row).flatMap(([name, value]) =>
        /^(id|name|public_key|.*_id)$/.test(name) ? [String(value)] : [],
      )
      for (const [column, value] of Object.entries(row))
        for (const sealed of candidates(value))
          for (const [name, key] of Object.entries(keys))
            if (ids.some((id) => [table, 'webhook_deliveries'].some((of) => opens(key, sealed, [of, id, column]))))
              found[name]!.push(`${table}.${column}`)
    }
  }
  return found
}

const distinct = (places: readonly string[]) => [...new Set(places)].sort()

/** Secrets beside those that somebody has imported, so that sealing anew takes a while. */
async function fill(
  rows: Rows,
  { organizationId, key, count }: { organizationId: string; key: Buffer; count: number },
) {
  for (let position = 1; position <= count; ) {
    const values: unknown[] = []
    const places: string[] = []
    for (let n = 0; n < 1_000 && position <= count; n++, position++) {
      const id = randomUUID()
      const at = values.push(id, organizationId, sealFor(key, 'secret', ['secrets', id, 'sealed_secret']), position)
      places.push(`($${at - 3}, $${at - 2}, null, '[]', $${at - 1}, $${at}, 1, 0)`)
    }
    await rows.query(
      `insert into secrets (id, organization_id, name, static_properties, sealed_secret, position, created_at, exported)
        values ${places.join(', ')}`,
      values,
    )
  }
}

const privateKey = (client: ProcessClient) =>
  client.body('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [{ privateKeyName: randomUUID(), curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }],
  })

describe('rotation of the master key', () => {
  test('rotation: every column of bytes is among those that are sealed anew', () => {
    const database = new DatabaseSync(':memory:')
    migrate(database, 1)
    const bytes = database
      .prepare(`select t.name || '.' || c.name as at from pragma_table_list t join pragma_table_info(t.name) c
        where lower(c.type) = 'blob' order by 1`)
      .all()
      .map(({ at }) => String(at))
    const sealed = SEALED_COLUMNS.filter(({ prefix, types }) => prefix === undefined && types === undefined)
    expect(sealed.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(bytes)
    expect(bytes.length).toBeGreaterThan(5)
  })

  test('rotation: of every kind of sealed value none is left under the old key, and the service works on', async () => {
    const service = await startTestService({ allowedWebhookHosts: ['127.0.0.1'], webhookFilters: false })
    closers.push(() => service.close())
    const { root, dataDir } = service
    const account = {
      ...{ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
      path: "m/44'/60'/0'/0/0",
    }
    const receiver = await startReceiver()
    closers.push(() => receiver.close())
    await complete(root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', {
      ...{ url: receiver.url, name: 'listens', subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }] },
    })
    const { walletId, addresses } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', {
      ...{ walletName: 'w', accounts: [account] },
    })
    await complete(root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
    await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [{ privateKeyName: 'k', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }],
    })
    await complete(root, 'ACTIVITY_TYPE_INIT_IMPORT_WALLET', { userId: service.rootUserId })
    await complete(root, 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})
    const otp = { otpType: 'OTP_TYPE_EMAIL', contact: 'a@b.test', appName: 'x' }
    const { otpId } = await complete(root, 'ACTIVITY_TYPE_INIT_OTP_V2', otp)
    await root.submit('ACTIVITY_TYPE_VERIFY_OTP', { otpId, otpCode: 'WRONG1234' }).catch(() => {})
    const rows = sqlite(dataDir)
    closers.push(() => rows.close())
    const old = keyOf(dataDir)
    const before = await openedBy(rows, { old })
    expect(distinct(before['old']!)).toEqual(
      expect.arrayContaining([
        'activities.result',
        'auth_proxies.sealed_private_key',
        'import_targets.sealed_private_key',
        'one_time_passcodes.sealed_keys',
        'private_keys.sealed_private_key',
        'service_keys.sealed_private_key',
        'wallet_account_keys.sealed_private_key',
        'wallets.sealed_mnemonic',
      ]),
    )
    const { name } = await rotateKeyOfFolder(dataDir, { environment: {} })
    await expect(rotateKeyOfFolder(dataDir, { environment: {} })).rejects.toMatchObject({
      code: 'service/key-rotation-under-way',
    })
    const next = keyOf(dataDir, 'master.key.next')
    await vi.waitFor(() => expect(existsSync(join(dataDir, 'master.key.next'))).toBe(false), {
      ...{ timeout: 60_000, interval: 200 },
    })
    expect(keyOf(dataDir).equals(next)).toBe(true)
    const after = await openedBy(rows, { old, next })
    expect(after['old']).toEqual([])
    expect(distinct(after['next']!)).toEqual(expect.arrayContaining(distinct(before['old']!)))
    const { rotation } = await readRotationOfFolder(dataDir, undefined)
    expect(rotation).toMatchObject({ step: 'done', to: name, resealed: 0, broken: 0, values: after['next']!.length })
    // What runs has forgotten the old key, and so has what starts.
    const derived = async () =>
      (await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', { walletId, accounts: [account], persist: false }))
        .addresses
    expect(await derived()).toEqual(addresses)
    await complete(root, 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})
    // The key that webhooks are signed with was read before, and is kept in memory.
    const seen = receiver.received.length
    await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'after', userIds: [] })
    await receiver.until(seen + 1)
    await service.restart()
    expect(await derived()).toEqual(addresses)
  }, 120_000)

  test('rotation: a process that is killed again and again while it seals anew loses nothing and repeats no work', async () => {
    const folder = newFolder()
    let serving = await startProcess(folder)
    closers.push(() => serving.end('SIGKILL'))
    const client = readClient(folder)
    await serving.end('SIGTERM')
    const rows = sqlite(folder)
    closers.push(() => rows.close())
    const old = keyOf(folder)
    await fill(rows, { organizationId: client.organizationId, key: old, count: 6_000 })
    serving = await startProcess(folder)
    await rotateKeyOfFolder(folder, { environment: {} })
    const next = keyOf(folder, 'master.key.next')
    const done = await killing(folder, undefined, async () => {
      await serving.end('SIGKILL')
      serving = await startProcess(folder)
      expect((await client.send(serving.url, privateKey(client)))?.status).toBe('ACTIVITY_STATUS_COMPLETED')
    })
    expect(done.kills).toBe(3)
    expect(done.resealedInAll).toBeLessThan(6_200)
    const found = await openedBy(rows, { old, next })
    expect(found['old']).toEqual([])
    expect(found['next']!.length).toBe(done.values)
    expect((await rows.query('select count(*) as n from secrets'))[0]!['n']).toBe(6_000)
  }, 240_000)

  test.skipIf(findPostgres() === undefined)(
    'rotation: of several processes on one PostgreSQL none seals with a key that another lacks, and one that is killed is taken over',
    async () => {
      server = await startPostgres()
      const url = await server.create()
      const at = { databaseUrl: url.reveal() }
      const [one, two] = [newFolder(), newFolder()]
      const serving: ServingProcess[] = [await startProcess(one, at)]
      for (const n of [0, 1]) closers.push(() => serving[n]?.end('SIGKILL'))
      copyFileSync(join(one, 'master.key'), join(two, 'master.key'))
      serving.push(await startProcess(two, at))
      const rows = await postgres(url)
      closers.push(() => rows.close())
      const client = readClient(one)
      const old = keyOf(one)
      const late = newFolder()
      copyFileSync(join(one, 'master.key'), join(late, 'master.key'))
      await fill(rows, { organizationId: client.organizationId, key: old, count: 6_000 })
      await rotateKeyOfFolder(one, { environment: {} })
      const next = keyOf(one, 'master.key.next')
      const database = { url, connections: 1 }
      await vi.waitFor(
        async () => expect((await readRotationOfFolder(one, database)).rotation?.step).toBe('announced'),
        { timeout: 20_000, interval: 100 },
      )
      // The other has no new key: however long that takes, nothing is sealed with it.
      await delay(6_000)
      for (const { url: to } of serving) await client.send(to, privateKey(client))
      expect((await openedBy(rows, { next }))['next']).toEqual([])
      copyFileSync(join(one, 'master.key.next'), join(two, 'master.key.next'))
      let n = 0
      const done = await killing(one, database, async () => {
        const at = n++ % 2
        await serving[at]!.end('SIGKILL')
        for (const each of serving.filter((_, index) => index !== at))
          expect((await client.send(each.url, privateKey(client)))?.status).toBe('ACTIVITY_STATUS_COMPLETED')
        serving[at] = await startProcess(at === 0 ? one : two, { databaseUrl: url.reveal() })
      })
      await vi.waitFor(
        () => expect([one, two].map((each) => existsSync(join(each, 'master.key.next')))).toEqual([false, false]),
        {
          ...{ timeout: 60_000, interval: 200 },
        },
      )
      for (const folder of [one, two]) expect(keyOf(folder).equals(next)).toBe(true)
      for (const { url: to } of serving)
        expect((await client.send(to, privateKey(client)))?.status).toBe('ACTIVITY_STATUS_COMPLETED')
      const found = await openedBy(rows, { old, next })
      expect(found['old']).toEqual([])
      expect(found['next']!.length).toBe(done.values + serving.length)
      // Who comes with the old key alone is refused before it seals anything.
      await expect(createService({ dataDir: late, database, port: 0 })).rejects.toMatchObject({
        code: 'service/seal-broken',
      })
    },
    240_000,
  )
})

/** Kills three times while values are being sealed anew, then waits until the folder has the new key in its place. */
async function killing(
  folder: string,
  database: { url: Secret; connections: number } | undefined,
  kill: () => Promise<void>,
) {
  let [kills, seen] = [0, 0]
  for (;;) {
    const { rotation, isNextThere } = await readRotationOfFolder(folder, database)
    if (rotation?.step === 'done' && !isNextThere) return { kills, ...rotation }
    if (kills < 3 && rotation?.step === 'resealing' && rotation.resealedInAll > seen) {
      await kill()
      kills += 1
      seen = (await readRotationOfFolder(folder, database)).rotation!.resealedInAll
    }
    await delay(50)
  }
}
