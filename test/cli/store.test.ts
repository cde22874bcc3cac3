/** What an operator does with the rows of a service: each service is real, and so is PostgreSQL. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAuthProxy } from '../../src/service/index.ts'
import { withClient } from '../../src/service/store/postgres-pool.ts'
import type { Secret } from '../../src/telemetry/index.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../postgres.ts'
import { complete, fresh } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { createOneProcess, quorate, testFolder } from './harness.ts'

const account = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  path: "m/44'/60'/0'/0/0",
}

let server: TestPostgres
let cli: ReturnType<typeof createOneProcess>

/** Runs a command on a folder, with PostgreSQL where its place is given; gives what it printed as JSON. */
async function run(folder: string, words: readonly string[], database?: Secret) {
  const env = database ? { DATABASE_URL: database.reveal() } : {}
  const place = words[0] === 'doctor' ? ['--data-dir', folder] : ['--folder', folder]
  const ran = await cli.quorate([...words, ...place, '--json'], { env, cwd: folder })
  return { ...ran, json: ran.exit === 0 ? JSON.parse(ran.stdout) : undefined }
}

/** A service that has kept a wallet, and was closed; its folder stays for the test. */
async function servedOnce() {
  const folder = join(testFolder(), 'service')
  const service = await startTestService({ dataDir: folder, database: undefined })
  const wallet = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts: [account] })
  await service.service.close()
  return { folder, wallet, organizationId: service.organizationId }
}

/** Whether the keys of a service open what was sealed. */
async function derives(
  service: TestService,
  { walletId, addresses }: { walletId: string; addresses: readonly string[] },
) {
  const derive = { walletId, accounts: [{ ...account, path: `${account.path}` }], persist: false }
  expect((await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', derive)).addresses).toEqual(addresses)
}

async function serving(dataDir: string, url?: Secret): Promise<TestService> {
  const service = await startTestService({ dataDir, ...(url ? { database: { url, connections: 3 } } : {}) })
  onTestFinished(() => service.close())
  return service
}

describe.skipIf(findPostgres() === undefined)('store', () => {
  beforeAll(async () => {
    server = await startPostgres()
    cli = createOneProcess()
  })
  afterAll(async () => {
    cli.close()
    await server.close()
  })

  test('store: rows go to PostgreSQL and back with one digest, served on either side, and never over others', async () => {
    const { folder, wallet, organizationId } = await servedOnce()
    const url = await server.create()
    const there = await run(folder, ['store', 'copy', 'postgres'], url)
    expect(there.json).toMatchObject({ to: 'postgres', digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const twice = await run(folder, ['store', 'copy', 'postgres'], url)
    expect(twice.exit).toBe(1)
    expect(twice.stderr).toContain('service/store-not-empty')

    // Back into another folder, before anybody has written: the same rows.
    const back = join(testFolder(), 'service')
    mkdirSync(back, { mode: 0o700 })
    for (const name of ['master.key', 'bootstrap.json']) cpSync(join(folder, name), join(back, name))
    expect((await run(back, ['store', 'copy', 'folder'], url)).json.digest).toBe(there.json.digest)
    expect((await run(back, ['store', 'copy', 'folder'], url)).stderr).toContain('service/store-not-empty')

    renameSync(join(folder, 'quorate.db'), join(folder, 'former.db'))
    const shared = await serving(folder, url)
    await derives(shared, wallet as never)
    expect(shared.organizationId).toBe(organizationId)
    const empty = join(testFolder(), 'service')
    mkdirSync(empty, { mode: 0o700 })
    for (const name of ['master.key', 'bootstrap.json']) cpSync(join(folder, name), join(empty, name))
    const served = await run(empty, ['store', 'copy', 'folder'], url)
    expect(served.stderr).toContain('service/store-served')
    expect(readdirSync(empty).sort()).not.toContain('quorate.db')
    const alone = await serving(back)
    await derives(alone, wallet as never)
  })

  test('store: what PostgreSQL cannot keep is said, and nothing of it is kept there', async () => {
    const { folder } = await servedOnce()
    const database = new DatabaseSync(join(folder, 'quorate.db'))
    database.exec("update wallets set name = 'a' || char(0) || 'b'")
    database.close()
    const url = await server.create()
    const { exit, stderr } = await run(folder, ['store', 'copy', 'postgres'], url)
    expect(exit).toBe(1)
    expect(stderr).toContain('a text in `wallets` has the character U+0000')
    const left = await withClient({ url }, async (client) => (await client.query('select * from settings')).rows)
    expect(left).toEqual([])
  })

  test('store: a service on PostgreSQL is saved while it runs, restored to an empty one, looked at, and has a proxy', async () => {
    const [url, other] = [await server.create(), await server.create()]
    const service = await serving(join(testFolder(), 'service'), url)
    const wallet = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts: [account] })
    const file = join(testFolder(), 'w.snapshot')
    expect((await run(service.dataDir, ['snapshot', 'save', file], url)).json).toMatchObject({ activities: 1 })
    const doctor = await run(service.dataDir, ['doctor'], url)
    const findings = doctor.json.findings as readonly { check: string; state: string; found: string }[]
    expect(findings.find(({ check }) => check === 'database')).toMatchObject({
      state: 'good',
      found: expect.stringMatching(/^PostgreSQL \d+\.\d+, .* 1 activities, served by one process$/),
    })
    expect(findings.find(({ check }) => check === 'webhooks')).toMatchObject({ found: 'none was given up' })

    const proxy = await createAuthProxy({ dataDir: service.dataDir, baseUrl: service.url, database: { url } })
    try {
      const { authProxyConfigId } = service.service.bootstrap
      const headers = { 'X-Auth-Proxy-Config-Id': authProxyConfigId }
      const answer = await fetch(`${proxy.url}/v1/wallet_kit_config`, { method: 'POST', headers, body: '{}' })
      // The rows say that it is off; a proxy that had not read them would not know its configuration.
      expect(await answer.text()).toContain('auth proxy is disabled')
    } finally {
      await proxy.close()
    }
    const connections = () =>
      withClient({ url }, async (client) => {
        const { rows } = await client.query(
          'select count(*)::int as count from pg_stat_activity where datname = current_database()',
        )
        return rows[0].count as number
      })
    const before = await connections()
    const tls = { certificate: join(service.dataDir, 'none.pem'), key: join(service.dataDir, 'none.key') }
    const wrong = createAuthProxy({ dataDir: service.dataDir, baseUrl: service.url, database: { url }, tls })
    await expect(wrong).rejects.toMatchObject({ code: 'service/tls-invalid' })
    // PostgreSQL counts one until its process has ended.
    await expect.poll(connections).toBe(before)

    const folder = join(testFolder(), 'service')
    mkdirSync(folder, { mode: 0o700 })
    expect((await run(folder, ['snapshot', 'restore', file], url)).stderr).toContain('service/store-not-empty')
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
    expect((await run(folder, ['snapshot', 'restore', file], other)).exit).toBe(0)
    expect(existsSync(join(folder, 'quorate.db'))).toBe(false)
    await derives(await serving(folder, other), wallet as never)
  })

  test('store: a snapshot that is saved while two processes are written to has what was acknowledged before, also in a folder', async () => {
    const url = await server.create()
    const one = await serving(join(testFolder(), 'service'), url)
    const beside = join(testFolder(), 'service')
    mkdirSync(beside, { mode: 0o700 })
    for (const name of ['master.key', 'bootstrap.json']) cpSync(join(one.dataDir, name), join(beside, name))
    const two = await serving(beside, url)
    const acknowledged: string[] = []
    let isOver = false
    const writing = [one, two, one, two].map(async ({ root, rootUserId: userId }) => {
      while (!isOver)
        acknowledged.push((await root.submit('ACTIVITY_TYPE_UPDATE_USER', { userId, userName: fresh('é 🎉') })).id)
    })
    await vi.waitUntil(() => acknowledged.length >= 20)
    const before = [...acknowledged]
    const file = join(testFolder(), 'w.snapshot')
    expect((await run(one.dataDir, ['snapshot', 'save', file], url)).exit).toBe(0)
    isOver = true
    await Promise.all(writing)
    expect(acknowledged.length - before.length).toBeGreaterThan(4)

    const folder = join(testFolder(), 'service')
    // A process of its own: the other one keeps the variable that names PostgreSQL.
    expect(await quorate(['snapshot', 'restore', file, '--folder', folder])).toMatchObject({ exit: 0 })
    const restored = new DatabaseSync(join(folder, 'quorate.db'), { readOnly: true })
    const kept = new Set(
      restored
        .prepare('select id from activities')
        .all()
        .map(({ id }) => id),
    )
    restored.close()
    expect(before.filter((id) => !kept.has(id))).toEqual([])
    const { root } = await serving(folder)
    const last = before.at(-1)!
    expect((await root.query('get_activity', { activityId: last })).activity.id).toBe(last)
  })

  test('migrate: says what it did, in a folder and in PostgreSQL, and refuses a newer schema', async () => {
    const { folder } = await servedOnce()
    expect((await run(folder, ['migrate'])).json).toEqual({ migrations: [] })
    const url = await server.create()
    const done = (await run(folder, ['migrate'], url)).json.migrations as readonly string[]
    expect(done[0]).toBe('0001-start')
    expect((await run(folder, ['migrate'], url)).json).toEqual({ migrations: [] })

    const newer = "insert into migrations (name, applied_at) values ('9999-later', 1)"
    await withClient({ url }, (client) => client.query(newer))
    const database = new DatabaseSync(join(folder, 'quorate.db'))
    database.exec(newer)
    database.close()
    const refused: readonly [string[], Secret | undefined][] = [
      [['migrate'], url],
      [['migrate'], undefined],
      [['store', 'copy', 'postgres'], await server.create()],
    ]
    for (const [words, place] of refused) {
      const { exit, stderr } = await run(folder, words, place)
      expect(exit).toBe(1)
      expect(stderr).toContain('service/schema-differs')
      expect(stderr).toContain('9999-later')
    }
  })
})
