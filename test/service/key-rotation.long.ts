/** Another master key while processes are killed: nothing is lost, and nothing stays under the old key. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { createService, readRotationOfFolder, rotateKeyOfFolder } from '../../src/service/index.ts'
import type { Secret } from '../../src/telemetry/index.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../postgres.ts'
import { readClient, type ServingProcess, startProcess } from './process.ts'
import { newSignUp } from './proxy/stage.ts'
import { startProxy } from './proxy-process.ts'
import { fill, keyOf, openedBy, postgres, privateKey, sqlite } from './sealed-rows.ts'

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
describe('rotation of the master key', () => {
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
      server ??= await startPostgres()
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
      const { holders, rotation } = await readRotationOfFolder(one, database)
      expect(holders.map(({ opens, seals }) => [...opens, seals])).toEqual(
        [0, 1].map(() => [rotation!.to, rotation!.to]),
      )
      // Who comes with the old key alone is refused before it seals anything.
      await expect(createService({ dataDir: late, database, port: 0 })).rejects.toMatchObject({
        code: 'service/seal-broken',
      })
    },
    240_000,
  )

  test.skipIf(findPostgres() === undefined)(
    'rotation: a proxy of its own process and folder is waited for, takes the new key by itself, and forgets the old one',
    async () => {
      server ??= await startPostgres()
      const url = await server.create()
      const [one, two] = [newFolder(), newFolder()]
      const serving = await startProcess(one, { databaseUrl: url.reveal() })
      closers.push(() => serving.end('SIGKILL'))
      copyFileSync(join(one, 'master.key'), join(two, 'master.key'))
      const env = { DATABASE_URL: url.reveal() }
      const proxy = await startProxy(two, serving.url, env)
      closers.push(() => proxy.end('SIGKILL'))
      const late = newFolder()
      copyFileSync(join(one, 'master.key'), join(late, 'master.key'))
      const client = readClient(one)
      const completed = { status: 'ACTIVITY_STATUS_COMPLETED' }
      const enable = client.body('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
      expect(await client.send(serving.url, enable)).toMatchObject(completed)
      const { authProxyConfigId } = JSON.parse(readFileSync(join(one, 'bootstrap.json'), 'utf8'))
      const signUp = async () => {
        const headers = { 'x-auth-proxy-config-id': authProxyConfigId, 'content-type': 'application/json' }
        const answer = await fetch(`${proxy.url}/v1/signup_v2`, {
          ...{ method: 'POST', headers, body: JSON.stringify(newSignUp()) },
        })
        return [answer.status, await answer.json()]
      }
      const signedUp = [200, { organizationId: expect.any(String), userId: expect.any(String) }]
      expect(await signUp()).toEqual(signedUp)
      await rotateKeyOfFolder(one, { environment: {} })
      const next = keyOf(one, 'master.key.next')
      const database = { url, connections: 1 }
      const look = () => readRotationOfFolder(one, database)
      const holdsOf = async (kind: string) => (await look()).holders.filter((each) => each.kind === kind)
      await vi.waitFor(async () => expect((await holdsOf('service'))[0]?.opens).toHaveLength(2), {
        ...{ timeout: 20_000, interval: 100 },
      })
      await delay(5_000)
      const { rotation } = await look()
      expect(rotation).toMatchObject({ step: 'announced' })
      expect(await holdsOf('proxy')).toMatchObject([{ opens: [rotation!.from] }])
      expect(await signUp()).toEqual(signedUp)
      copyFileSync(join(one, 'master.key.next'), join(two, 'master.key.next'))
      const to = rotation!.to
      // Neither has the old one any more, and each folder has the new one in its place.
      await vi.waitFor(async () => expect(await holdsOf('proxy')).toMatchObject([{ opens: [to] }]), {
        ...{ timeout: 60_000, interval: 200 },
      })
      expect(await holdsOf('service')).toMatchObject([{ opens: [to], seals: to }])
      for (const folder of [one, two]) {
        expect(keyOf(folder).equals(next)).toBe(true)
        expect(existsSync(join(folder, 'master.key.next'))).toBe(false)
      }
      expect(await signUp()).toEqual(signedUp)
      await expect(startProxy(late, serving.url, env)).rejects.toThrow('service/seal-broken')
    },
    120_000,
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
