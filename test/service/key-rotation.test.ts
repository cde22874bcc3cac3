/** Another master key while the service works: everything that is sealed is sealed anew. Kills meanwhile: `key-rotation.long.ts`. */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readRotationOfFolder, rotateKeyOfFolder, wrapKeyOfFolder } from '../../src/service/index.ts'
import { SEALED_COLUMNS } from '../../src/service/keys/index.ts'
import { migrate } from '../../src/service/store/migrations.ts'
import { quorate, testFolder } from '../cli/harness.ts'
import { databaseOf } from '../postgres.ts'
import { complete } from './handlers/steps.ts'
import { startTestService } from './harness.ts'
import { startReceiver } from './outbox/receiver.ts'
import { startProxy } from './proxy-process.ts'
import { distinct, keyOf, openedBy, postgres, sqlite } from './sealed-rows.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
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

  test('rotation: how far it is needs the newest schema, and the error says how a database gets there', async () => {
    const dataDir = testFolder()
    const file = new DatabaseSync(join(dataDir, 'quorate.db'))
    migrate(file, 1, '0043-exported-secrets')
    file.close()
    const database = await databaseOf(dataDir)
    const { exit, stderr } = await quorate(['master-key', 'status', '--folder', dataDir], {
      env: database ? { DATABASE_URL: database.url.reveal() } : {},
    })
    expect(exit).toBe(1)
    const first = database ? 'start' : '00'
    expect(stderr).toContain(`error service/schema-differs: the database lacks the newest schema: ${first}`)
    expect(stderr).toContain('`quorate migrate`')
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
    const database = await databaseOf(dataDir)
    const rows = database ? await postgres(database.url) : sqlite(dataDir)
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
    const { rotation } = await readRotationOfFolder(dataDir, database)
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

  test('rotation: a proxy of its own process that cannot open the new key is named, and waited for until it ends', async () => {
    const environment = { QUORATE_MASTER_KEY: 'b2'.repeat(32) }
    const service = await startTestService({ keyKeeper: { environment } })
    closers.push(() => service.close())
    const { dataDir, url } = service
    const database = await databaseOf(dataDir)
    const env = database ? { DATABASE_URL: database.url.reveal() } : {}
    // It has the key that stood there plain; what its keeper needs, it was never given.
    const proxy = await startProxy(dataDir, url, env)
    closers.push(() => proxy.end('SIGKILL'))
    await wrapKeyOfFolder(dataDir, 'env:QUORATE_MASTER_KEY', { environment })
    const { name } = await rotateKeyOfFolder(dataDir, { environment })
    const status = () => quorate(['master-key', 'status', '--folder', dataDir], { env })
    const holder = `proxy on ${hostname()}:${proxy.pid}`
    await vi.waitFor(async () => expect((await status()).stdout).toContain(`${holder}, which lacks key ${name}`), {
      ...{ timeout: 20_000, interval: 100 },
    })
    const { rotation } = await readRotationOfFolder(dataDir, database)
    await vi.waitFor(() => expect(Date.now() - rotation!.since).toBeGreaterThan(6_000), { timeout: 10_000 })
    expect(await readRotationOfFolder(dataDir, database)).toMatchObject({
      ...{ rotation: { step: 'announced' }, isNextThere: true },
      holders: expect.arrayContaining([
        { kind: 'proxy', place: `${hostname()}:${proxy.pid}`, opens: [rotation!.from] },
      ]),
    })
    await proxy.end('SIGTERM')
    await vi.waitFor(async () => expect((await readRotationOfFolder(dataDir, database)).rotation?.step).toBe('done'), {
      ...{ timeout: 30_000, interval: 100 },
    })
    const { stdout } = await status()
    expect(stdout).not.toContain('proxy')
    expect(stdout).toContain(`old key      0 of`)
  }, 120_000)
})
