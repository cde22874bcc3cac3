/**
 * What is inside sub-organizations is begun by a workflow: it comes to its end without the command that began it, whatever is
 * killed. The command line as a process, a real service and a real Temporal server.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { applyId } from '../../src/operations/names.ts'
import { builtMain, compileCache } from '../built.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { resetAtTemporal } from '../security/hostile-temporal.ts'
import { createTestUser } from '../service/harness.ts'
import { type ServingProcess, startProcess } from '../service/process.ts'
import { testBundle } from '../worker-runtime.ts'
import { createReplayer } from '../workflows/recorded.ts'
import { ACME, countActivities, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { connectScene, type Scene, type SceneOptions, scene } from './scene.ts'

const [ann, zoe] = [generateP256KeyPair(), generateP256KeyPair()]

interface Fleet extends Scene {
  readonly defs: string
  readonly keys: string
  readonly run: (...args: readonly string[]) => ReturnType<typeof quorate>
  /** The live sub-organizations of a name. */
  readonly idsOf: (name: string) => Promise<readonly string[]>
  readonly tagsIn: (organizationId: string) => Promise<readonly string[]>
  /** Begins a command and gives its process. */
  readonly begin: (...args: readonly string[]) => ReturnType<typeof spawn>
}

async function fleet(options: SceneOptions = {}): Promise<Fleet> {
  const keys = testFolder()
  const more = { QUORATE_SUB_ORGANIZATION_KEYS: keys, QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY }
  const stage = await scene({ ...options, more })
  const { service, folder, env } = stage
  const root = service.root
  return {
    ...stage,
    keys,
    defs: join(folder, 'defs'),
    run: (...args) => quorate(args, { env }),
    begin: (...args) =>
      spawn(process.execPath, [builtMain(), ...args], {
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], CI: 'true', ...compileCache(), ...env },
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    idsOf: async (filterValue) =>
      (await root.query('list_suborgs', { filterType: 'NAME', filterValue })).organizationIds,
    tagsIn: async (organizationId) =>
      (await root.query('list_user_tags', { organizationId })).userTags.map(({ tagName }) => tagName).toSorted(),
  }
}

const customer = (tags: readonly string[], threshold = 1) => `rootQuorum: { threshold: ${threshold}, users: [ann, zoe] }
tags: { ${tags.map((name) => `${name}: {}`).join(', ')} }
users:
  ann: { apiKeys: { k: { curve: P256, publicKey: ${ann.publicKey} } } }
  zoe: { apiKeys: { k: { curve: P256, publicKey: ${zoe.publicKey} } } }
`
const one = (name: string, ...rest: Parameters<typeof customer>) => `organization: ${name}\n${customer(...rest)}`

async function until<T>(look: () => Promise<T>, wanted: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look()
    if (wanted(seen)) return seen
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('apply inside', () => {
  test('detached, it needs no second apply: what waits for people outside is followed by what is inside, and all replays', async () => {
    const { service, defs, keys, env, run, idsOf, tagsIn } = await fleet()
    const bob = await createTestUser(service, 'bob')
    keyFile(keys, 'customer-1', ann.privateKey)
    keyFile(keys, 'living', ann.privateKey)
    writeFiles(defs, { 'acme.yaml': ACME, 'living/c.yaml': one('living', ['vip']) })
    const first = await run('apply', defs, '--yes')
    expect(first.exit, first.stdout + first.stderr).toBe(0)
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })

    writeFiles(defs, { 'one/c.yaml': one('customer-1', ['vip']), 'living/c.yaml': one('living', ['vip', 'more']) })
    const begun = await run('apply', defs, '--yes', '--detach')
    expect(begun.exit, begun.stdout + begun.stderr).toBe(0)
    expect(begun.stderr).toContain('The apply goes on in the background')
    expect(begun.stderr).not.toContain('apply again')

    // What lives does not wait for the votes on what is to be made.
    const [living] = await idsOf('living')
    await until(
      () => tagsIn(living!),
      (tags) => tags.includes('more'),
    )
    expect(await idsOf('customer-1')).toEqual([])
    const shown = await run('status')
    expect(shown.stdout).toContain('Not begun yet inside: customer-1')
    const looked = await run('apply', defs, '--yes')
    expect(looked.exit, looked.stdout + looked.stderr).toBe(3)
    expect(looked.stderr).toContain('customer-1: begins by itself, once it is made')

    const waiting = await service.root.query('list_activities', {
      filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
    })
    expect(waiting.activities.length).toBe(1)
    const { fingerprint } = waiting.activities[0]!
    await bob.client.submit('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })
    const temporal = await connectScene(env)
    const own = temporal.client.workflow.getHandle(applyId(service.organizationId))
    await own.signal('nudge')
    await own.result()
    const insideId = await own.query<string>('inside')
    const inside = temporal.client.workflow.getHandle(insideId)
    expect(await inside.result()).toMatchObject({
      state: 'over',
      organizations: [
        { name: 'customer-1', state: 'done' },
        { name: 'living', state: 'done' },
      ],
    })
    const [made] = await idsOf('customer-1')
    expect(await tagsIn(made!)).toEqual(['vip'])

    const replayer = createReplayer(await testBundle())
    await replayer.replayOf(own, 'apply-with-inside')
    await replayer.replayOf(inside, 'apply-inside')
    await replayer.replayOf(temporal.client.workflow.getHandle(applyId(made!)), 'apply-told')
    await replayer.close()
    const [told, ended] = [await run('status', '--json'), await inside.result()]
    expect(await resetAtTemporal(temporal, insideId)).toEqual(ended)
    expect(JSON.parse((await run('status', '--json')).stdout)).toEqual(JSON.parse(told.stdout))
    await temporal.close()
    const after = await run('plan', defs, '--detailed-exitcode')
    expect(after.exit, after.stdout + after.stderr).toBe(0)
  })

  test('killed in the middle, command and worker both, it comes to its end, and nothing is asked for twice', async () => {
    const { service, defs, keys, env, run, begin, idsOf, tagsIn, stopWorker, startWorker } = await fleet()
    const names = ['c1', 'c2', 'c3', 'c4']
    for (const name of names) keyFile(keys, name, ann.privateKey)
    writeFiles(defs, {
      'acme.yaml': `${ACME}tags: { ops: {} }\n`,
      'customers/all.yaml': `each: { ${names.map((name) => `${name}: {}`).join(', ')} }\n`,
      'customers/each.yaml': customer(['vip', 'late']),
    })
    const child = begin('apply', defs, '--yes', '--events')
    const exit = once(child, 'exit')
    for await (const part of child.stdout!)
      if (String(part).includes('"submitting"') || String(part).includes('"completed"')) break
    child.kill('SIGKILL')
    await exit
    await stopWorker()
    await startWorker()
    const temporal = await connectScene(env)
    const own = temporal.client.workflow.getHandle(applyId(service.organizationId))
    await until(
      () => idsOf('c1'),
      (ids) => ids.length > 0,
    )
    await stopWorker()
    await startWorker()
    const followed = await run('status', '--follow')
    expect(followed.exit, followed.stdout + followed.stderr).toBe(0)
    expect(followed.stdout).toMatch(/c4\n.*done/)
    const inside = temporal.client.workflow.getHandle(await own.query<string>('inside'))
    const { organizations } = (await inside.result()) as { organizations: { state: string }[] }
    expect(organizations.map(({ state }) => state)).toEqual(names.map(() => 'done'))
    await temporal.close()
    for (const name of names) {
      const ids = await idsOf(name)
      expect(ids.length).toBe(1)
      expect(await tagsIn(ids[0]!)).toEqual(['late', 'vip'])
      const { activities } = await service.root.query('list_activities', { organizationId: ids[0]! })
      expect(activities.filter(({ type }) => type === 'ACTIVITY_TYPE_CREATE_USER_TAG').length).toBe(2)
    }
    expect((await run('plan', defs, '--detailed-exitcode')).exit).toBe(0)
  })

  test('the service killed while what is inside is applied: it comes to its end, and nothing is done twice', async () => {
    const served: { process?: ServingProcess; dataDir?: string } = {}
    const { service, defs, keys, begin, run, idsOf, tagsIn } = await fleet({
      // The same folder, served by a process that can be killed.
      at: async ({ service: inProcess, dataDir }) => {
        await inProcess.close()
        served.process = await startProcess(dataDir)
        return served.process.url
      },
    })
    onTestFinished(() => served.process!.end('SIGKILL'))
    const port = Number(new URL(served.process!.url).port)
    const names = ['c1', 'c2', 'c3']
    for (const name of names) keyFile(keys, name, ann.privateKey)
    writeFiles(defs, {
      'acme.yaml': `${ACME}tags: { ops: {} }\n`,
      'customers/all.yaml': `each: { ${names.map((name) => `${name}: {}`).join(', ')} }\n`,
      'customers/each.yaml': customer(['vip', 'late']),
    })
    const child = begin('apply', defs, '--yes')
    const exit = once(child, 'exit')
    child.stdout!.resume()
    const isOver = () => child.exitCode !== null
    const made = () => {
      using database = new DatabaseSync(join(service.dataDir, 'quorate.db'), { readOnly: true })
      return Number(database.prepare('select count(*) as made from activities').get()!['made'])
    }
    // The first of the organization's own, the first inside, and one in the middle of them.
    let kills = 0
    for (const activities of [1, 5, 8]) {
      await until(
        async () => made(),
        (count) => count >= activities || isOver(),
      )
      // One that has ended is not killed in the middle: a machine that is busy looks late.
      if (isOver()) break
      kills++
      await served.process!.end('SIGKILL')
      served.process = await startProcess(service.dataDir, { port })
    }
    expect(await exit).toEqual([0, null])
    expect(kills).toBeGreaterThan(1)
    const after = await run('plan', defs, '--detailed-exitcode')
    expect(after.exit, after.stdout + after.stderr).toBe(0)
    await served.process!.end('SIGTERM')
    await service.restart()
    for (const name of names) {
      const ids = await idsOf(name)
      expect(ids.length).toBe(1)
      expect(await tagsIn(ids[0]!)).toEqual(['late', 'vip'])
      const { activities } = await service.root.query('list_activities', { organizationId: ids[0]! })
      expect(activities.map(({ type, status }) => [type, status])).toEqual(
        ['late', 'vip'].map(() => ['ACTIVITY_TYPE_CREATE_USER_TAG', 'ACTIVITY_STATUS_COMPLETED']),
      )
    }
  })

  test('a rejection inside holds there, is told with its name, and --ask-again asks once more', async () => {
    const { service, defs, keys, env, idsOf, tagsIn, run } = await fleet()
    keyFile(keys, 'customer-1', ann.privateKey)
    writeFiles(defs, { 'acme.yaml': ACME, 'one/c.yaml': one('customer-1', ['vip'], 2) })
    const asked = await run('apply', defs, '--yes')
    expect(asked.exit, asked.stdout + asked.stderr).toBe(3)
    expect(asked.stdout).toContain('Waiting for approval')
    const [id] = await idsOf('customer-1')
    const vote = async (selection: 'APPROVE' | 'REJECT') => {
      const filterByStatus = ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] as const
      const { activities } = await service.root.query('list_activities', { organizationId: id!, filterByStatus })
      expect(activities.length).toBe(1)
      const { fingerprint } = activities[0]!
      const as = { organizationId: id! }
      await service.client(zoe.privateKey).submit(`ACTIVITY_TYPE_${selection}_ACTIVITY`, { fingerprint }, as)
    }
    await vote('REJECT')
    const again = await run('apply', defs, '--yes')
    expect(again.stderr).toMatch(/error cli\/rejected: in customer-1: create tag vip was rejected by zoe on 20\d\d-/)
    expect(again.exit).toBe(4)
    expect(await tagsIn(id!)).toEqual([])
    const before = await countActivities(service)

    const once = await run('apply', defs, '--yes', '--ask-again')
    expect(once.exit, once.stdout + once.stderr).toBe(3)
    await vote('APPROVE')
    const temporal = await connectScene(env)
    const handle = temporal.client.workflow.getHandle(applyId(id!))
    await handle.signal('nudge')
    expect(await handle.result()).toMatchObject({ state: 'done' })
    await temporal.close()
    expect(await tagsIn(id!)).toEqual(['vip'])
    expect(await countActivities(service)).toBe(before)
    const after = await run('apply', defs, '--yes')
    expect(after.exit, after.stdout + after.stderr).toBe(0)
  })

  test('a folder and an entry of `each` that are taken out stay live, stop the plan, and are deleted or handed back by a word', async () => {
    const { defs, keys, idsOf, run } = await fleet()
    for (const name of ['solo', 'e1', 'e2', 'e3']) keyFile(keys, name, ann.privateKey)
    const each = (...entries: readonly string[]) =>
      writeFiles(defs, { 'customers/all.yaml': `each: { ${entries.join(', ')} }\n` })
    writeFiles(defs, {
      'acme.yaml': ACME,
      'solo/c.yaml': one('solo', ['vip']),
      'customers/each.yaml': customer(['vip']),
    })
    each('e1: {}', 'e2: {}', 'e3: {}')
    const made = await run('apply', defs, '--yes')
    expect(made.exit, made.stdout + made.stderr).toBe(0)
    const lock = () => readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')

    rmSync(join(defs, 'solo'), { recursive: true })
    each('e1: {}')
    const refused = await run('apply', defs, '--yes', '--allow-delete')
    expect(refused.exit, refused.stdout + refused.stderr).toBe(4)
    for (const name of ['solo', 'e2', 'e3']) {
      expect(refused.stdout).toContain(`subOrganization.${name}`)
      expect((await idsOf(name)).length).toBe(1)
    }
    expect(lock()).toContain('subOrganization.solo')

    // The word: deleted here, handed back there.
    writeFiles(defs, {
      'acme.yaml': `${ACME}forget: [subOrganization.solo]\n`,
    })
    each('e1: {}', 'e2: { delete: true, withoutExport: true }', 'e3: { delete: true, withoutExport: true }')
    const done = await run('apply', defs, '--yes', '--allow', 'deletes=2')
    expect(done.exit, done.stdout + done.stderr).toBe(0)
    expect(await Promise.all(['solo', 'e1', 'e2', 'e3'].map(async (name) => (await idsOf(name)).length))).toEqual([
      1, 1, 0, 0,
    ])
    expect(lock()).not.toContain('subOrganization.solo')
    expect(lock()).not.toContain('subOrganization.e2')
    writeFiles(defs, { 'acme.yaml': ACME })
    each('e1: {}')
    const after = await run('plan', defs, '--detailed-exitcode')
    expect(after.exit, after.stdout + after.stderr).toBe(0)
  })
})
