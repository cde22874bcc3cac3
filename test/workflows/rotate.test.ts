/** The rotation workflow, the real client, the real service and Temporal: nothing between them is a double. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ApplicationFailure } from '@temporalio/common'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Activities,
  createActivities,
  createPlanStore,
  type RotationOrder,
  type RotationProgress,
  type RotationSink,
} from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import {
  beginRotation,
  followRotation,
  giveUpRotation,
  openRotationsWithEnds,
  orderRotation,
  progressOfRotations,
} from '../../src/operations/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { createWorker, type TemporalConnections } from '../../src/worker/index.ts'
import type { rotate } from '../../workflows/index.ts'
import { rotationWorkflowId } from '../../workflows/names.ts'
import { type SecretStores, startSecretStores } from '../activities/secret-stores.ts'
import { openHistory } from '../open-history.ts'
import { createTestUser, Refused, startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { connectTestTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { askUntil } from './asking.ts'
import { createReplayer, type Replayer } from './recorded.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-rotate-'))
const store = createPlanStore(join(folder, 'plans'))
let service: TestService
let temporal: TemporalConnections
let replayer: Replayer
let secrets: SecretStores
let stopWorker: () => Promise<void>
/** Whom the client of the new key stamps as, where a test says so. */
let impostor: Secret | undefined
/** The client of the worker's own key. */
let own: SubmitClient
/** How many more answers of the list of a user's keys are empty. */
let emptyLists = 0
/** Steps of a rotation whose first result is lost with their worker. */
const losing = new Set<string>()

beforeAll(async () => {
  service = await startTestService()
  temporal = await connectTestTemporal()
  secrets = await startSecretStores()
  const { organizationId } = service
  const clientOf = (privateKey: Secret) =>
    createSubmitClient({ baseUrl: service.url, organizationId, stamper: createApiKeyStamper({ privateKey }) })
  own = clientOf(new Secret(service.root.privateKey))
  const activities = createActivities({
    clientFor: () => own,
    planStore: store,
    clock: Date.now,
    logger: silentLogger,
    rotation: {
      keysFolder: join(folder, 'rotation-keys'),
      stores: secrets.tools,
      clientWith: (_, privateKey) => {
        const client = clientOf(impostor ?? privateKey)
        const query: typeof client.query = (name, ...more) =>
          name === 'get_api_keys' && emptyLists-- > 0
            ? Promise.resolve({ apiKeys: [] } as never)
            : client.query(name, ...more)
        return { ...client, query }
      },
      useKey: (privateKey) => {
        own = clientOf(privateKey)
      },
    },
  })
  const workflowBundle = await testBundle()
  replayer = createReplayer(workflowBundle)
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    seal: testSeal,
    taskQueue: organizationId,
    activities: losingResults(activities),
    workflowBundle,
    maxCachedWorkflows: 0,
  })
  const running = worker.run()
  stopWorker = async () => {
    worker.shutdown()
    await running
  }
})

afterAll(async () => {
  await stopWorker()
  await replayer.close()
  await temporal.close()
  await service.close()
  await secrets.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Each step of a rotation in `losing` does its work, and dies before it can say so. */
function losingResults(activities: Activities): Activities {
  const lossy = Object.entries(activities).map(([name, run]) => [
    name,
    async (input: Partial<RotationProgress> & { readonly part?: string; readonly progress?: RotationProgress }) => {
      const result = await (run as (given: unknown) => Promise<unknown>)(input)
      const { rotationId = '' } = input.progress ?? input
      const step = `${rotationId} ${name} ${input.part ?? ''}`
      if (losing.has(rotationId) && !losing.has(step)) {
        losing.add(step)
        throw ApplicationFailure.retryable('the worker was killed', 'apply/timed-out')
      }
      return result
    },
  ])
  return Object.fromEntries(lossy) as Activities
}

const keysOf = async (userId: string) => (await service.root.query('get_api_keys', { userId })).apiKeys
const publicKeysOf = async (userId: string) => (await keysOf(userId)).map(({ credential }) => credential.publicKey)
const readKey = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { publicKey: string; privateKey: string }

/** Somebody, and the client of their first key. */
interface Somebody extends TestClient {
  readonly userId: string
}

async function addUser(name: string): Promise<Somebody> {
  const { userId, client } = await createTestUser(service, name)
  return { ...client, userId }
}

const rootClient = () =>
  createSubmitClient({
    baseUrl: service.url,
    organizationId: service.organizationId,
    stamper: createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) }),
  })

/** A user whose only key stands in a file. */
async function makeUser(name: string) {
  const user = await addUser(name)
  const path = join(folder, `${name}.key`)
  writeFileSync(path, `${user.privateKey}\n`, { mode: 0o600 })
  return { user, path, sink: { kind: 'file', path } as const }
}

async function begin(user: Somebody, sink: RotationSink, more: Partial<RotationOrder> = {}, workflowId?: string) {
  const { organizationId } = service
  const [key] = await keysOf(user.userId)
  const order: RotationOrder = {
    rotationId: randomBytes(32).toString('hex'),
    organization: { id: organizationId, name: 'acme', baseUrl: service.url },
    user: { id: user.userId, name: 'a user' },
    key: { id: key!.apiKeyId, name: key!.apiKeyName, publicKey: key!.credential.publicKey },
    overlapMs: 0,
    sink,
    orderedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  }
  await store.rotations.enter(order)
  if (more.rotationId !== undefined) losing.add(more.rotationId)
  const handle = await temporal.client.workflow.start<typeof rotate>('rotate', {
    workflowId: workflowId ?? `rotate/${organizationId}/${user.userId}/${order.rotationId}`,
    taskQueue: organizationId,
    args: [{ organizationId, rotationId: order.rotationId }],
  })
  return {
    order,
    handle,
    async ended(record?: string): Promise<RotationProgress> {
      const progress = await handle.result()
      await replayer.replayOf(handle, record)
      return progress
    },
    until: (wanted: (progress: RotationProgress) => boolean) =>
      askUntil(() => handle.query<RotationProgress>('progress'), wanted),
  }
}

test('a key is replaced while its user works on: no request fails, the old key is refused, and the private key stands in its file alone', async () => {
  const { user, path, sink } = await makeUser('ci')
  let asked = 0
  let working = true
  const work = (async () => {
    while (working) {
      const key = readFileSync(path, 'utf8')
      const privateKey = key.startsWith('{') ? readKey(path).privateKey : key.trim()
      await service.client(privateKey).query('whoami')
      asked++
      await delay(200)
    }
  })()
  const run = await begin(user, sink, { overlapMs: 6_000 })
  const during = await run.until(({ state }) => state === 'overlap')
  expect(await publicKeysOf(user.userId)).toEqual([user.publicKey, during.new!.publicKey])
  const progress = await run.ended('rotate')
  working = false
  await work
  expect(asked).toBeGreaterThan(1)
  expect(progress).toMatchObject({
    state: 'done',
    proof: 'refused',
    user: 'a user',
    old: { publicKey: user.publicKey },
  })
  expect(Date.parse(progress.deletedAt!) - Date.parse(progress.handedAt!)).toBeGreaterThanOrEqual(6_000)
  expect(await publicKeysOf(user.userId)).toEqual([progress.new!.publicKey])
  expect(Object.keys(progress.activities)).toEqual(['create', 'delete'])
  await expect(user.query('whoami')).rejects.toThrow(Refused)

  const { publicKey, privateKey } = readKey(path)
  expect(publicKey).toBe(progress.new!.publicKey)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(folder, 'rotation-keys'))).toEqual([])
  const history = await openHistory(await run.handle.fetchHistory(), run.handle.workflowId, testSeal)
  expect(history).toContain(publicKey)
  const kept = readdirSync(join(folder, 'plans'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
  for (const text of [history, ...kept]) {
    expect(text).not.toContain(privateKey)
    expect(text).not.toContain(user.privateKey)
  }
})

test('every step may lose its result with its worker: each activity is made once, and the same key comes of it', async () => {
  const { user, path, sink } = await makeUser('killed')
  const rotationId = randomBytes(32).toString('hex')
  const run = await begin(user, sink, { rotationId })
  const progress = await run.ended()
  expect(progress).toMatchObject({ state: 'done', proof: 'refused' })
  expect([...losing].filter((step) => step.startsWith(`${rotationId} `)).length).toBeGreaterThanOrEqual(10)
  expect(await publicKeysOf(user.userId)).toEqual([readKey(path).publicKey])
  const { activities } = await service.root.query('list_activities', {
    filterByType: ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'ACTIVITY_TYPE_DELETE_API_KEYS'],
    paginationOptions: { limit: '100' },
  })
  expect(activities.filter(({ intent }) => JSON.stringify(intent).includes(user.userId)).length).toBe(2)
})

test('one that was terminated at Temporal is told as ended, is continued with the same key by the same command, or is given up', async () => {
  const { user, path, sink } = await makeUser('terminated')
  const { organizationId } = service
  const place = { client: temporal.client, organizationId, taskQueue: organizationId, dataDir: folder }
  const own = async () => (await openRotationsWithEnds(place)).filter((one) => one.user === 'terminated')
  const order = async (overlapMs: number, more: { sink?: RotationSink; key?: string } = {}) => {
    const request = { user: 'terminated', key: 'terminated-key', overlapMs, sink, ...more }
    return orderRotation(rootClient(), request, { now: Date.now(), organizationName: 'acme' })
  }
  const untilOverlap = (one: Awaited<ReturnType<typeof beginRotation>>) =>
    followRotation(
      one.handle,
      () => {},
      ({ state }) => state === 'overlap',
    )
  const first = await order(4_000)
  const begun = await beginRotation(place, first)
  const during = await untilOverlap(begun)
  await askUntil(own, ([one]) => one?.state === 'overlap')
  expect((await own())[0]).not.toHaveProperty('end')
  await begun.handle.terminate()
  expect(await own()).toMatchObject([{ state: 'overlap', end: 'terminated' }])
  // As those are told who hear of what is stuck.
  const told = (await progressOfRotations(place)).filter((one) => one.user === 'terminated')
  expect(told).toMatchObject([{ state: 'overlap', end: 'terminated' }])
  // One that another command has entered, and not started yet, is left to that command.
  const entered = await order(4_000, { key: user.publicKey })
  await store.rotations.enter({ ...entered, orderedAt: new Date(Date.now() + 1_000).toISOString() })
  const same = await order(4_000, { key: user.publicKey, sink: { kind: 'file', path: `${path}.other` } })
  const continued = await beginRotation(place, same)
  expect(continued).toMatchObject({ joined: false, continued: true })
  const progress = await continued.handle.result()
  expect(progress).toMatchObject({ state: 'done', proof: 'refused', rotationId: first.rotationId, new: during.new })
  expect(Object.values(progress.activities).length).toBe(2)
  expect(await publicKeysOf(user.userId)).toEqual([readKey(path).publicKey])
  expect(await own()).toEqual([])
  expect(await store.rotations.marked(entered.rotationId, 'over')).toBeUndefined()

  const second = await beginRotation(place, await order(60_000))
  const { old, new: made } = await untilOverlap(second)
  await askUntil(own, ([one]) => one?.state === 'overlap')
  await second.handle.terminate()
  const [ended] = await own()
  await giveUpRotation(folder, ended!.rotationId)
  expect(await own()).toEqual([])
  expect(await publicKeysOf(user.userId)).toEqual([old.publicKey, made!.publicKey])
  expect(await service.client(readKey(path).privateKey).query('whoami')).toMatchObject({ userId: user.userId })

  // Of another key of the same user: once it has begun, nobody carries out the one before it.
  const third = await beginRotation(place, await order(60_000, { key: made!.publicKey }))
  await untilOverlap(third)
  await askUntil(own, ([one]) => one?.state === 'overlap')
  await third.handle.terminate()
  const last = await beginRotation(place, await order(0, { key: old.publicKey }))
  expect(await last.handle.result()).toMatchObject({ state: 'done', old: { publicKey: old.publicKey } })
  expect(await own()).toEqual([])
})

test('a start whose answer is lost is found at Temporal; a list of keys that is empty proves nothing, and is asked for again', async () => {
  const { user, path, sink } = await makeUser('lost')
  const { organizationId } = service
  const workflow = Object.create(temporal.client.workflow) as typeof temporal.client.workflow
  workflow.start = async (...given: Parameters<typeof workflow.start>) => {
    await temporal.client.workflow.start(...given)
    throw Object.assign(new Error('the answer was lost'), { name: 'ServiceError' })
  }
  const client = { ...temporal.client, workflow, workflowService: temporal.client.workflowService }
  const place = { client: client as typeof temporal.client, organizationId, taskQueue: organizationId, dataDir: folder }
  const request = { user: 'lost', key: 'lost-key', overlapMs: 0, sink }
  const order = await orderRotation(rootClient(), request, { now: Date.now(), organizationName: 'acme' })
  emptyLists = 2
  const { handle, joined } = await beginRotation(place, order)
  expect(joined).toBe(false)
  const progress = await handle.result()
  expect(progress).toMatchObject({ state: 'done', proof: 'refused', old: { publicKey: user.publicKey } })
  expect(emptyLists).toBeLessThan(0)
  expect(readKey(path).publicKey).toBe(progress.new!.publicKey)
})

test('a new key that the API takes for somebody else’s, or that cannot be handed over, is taken away again', async () => {
  const { user, path, sink } = await makeUser('unlucky')
  impostor = new Secret(service.root.privateKey)
  const unverified = await (await begin(user, sink)).ended('rotate-undone')
  impostor = undefined
  expect(unverified).toMatchObject({ state: 'failed', error: { code: 'rotate/unverified' } })
  const unhanded = await (await begin(user, { kind: 'command', command: 'cat > /dev/null; exit 3' })).ended()
  expect(unhanded).toMatchObject({ state: 'failed', error: { code: 'rotate/sink-failed' } })
  expect(unhanded.error!.message).toContain('status 3')
  expect(Object.keys(unhanded.activities)).toEqual(['create', 'undo'])
  expect(await publicKeysOf(user.userId)).toEqual([user.publicKey])
  expect(readFileSync(path, 'utf8').trim()).toBe(user.privateKey)
})

test('a sink that has the key is not deprived of it, though the worker died before it could say so and the sink refuses it then', async () => {
  const { user, path } = await makeUser('retried')
  const works = async () => {
    const text = readFileSync(path, 'utf8')
    const privateKey = text.startsWith('{') ? readKey(path).privateKey : text.trim()
    return (await service.client(privateKey).query('whoami')).userId === user.userId
  }
  const refusing = join(folder, 'refusing')
  const command = `test -e ${refusing} && exit 3; cat > ${path}; touch ${refusing}`
  const losesHanded = (meanwhile: () => void) => {
    const { mark } = store.rotations
    const broken: typeof mark = (rotationId, which, value) => {
      if (which !== 'handed') return mark(rotationId, which, value)
      Object.assign(store.rotations, { mark })
      meanwhile()
      throw ApplicationFailure.retryable('the worker was killed', 'apply/timed-out')
    }
    Object.assign(store.rotations, { mark: broken })
  }

  losesHanded(() => {})
  const run = await begin(user, { kind: 'command', command })
  const away = await run.until(({ error }) => error?.message.includes('status 3') === true)
  expect(away).toMatchObject({ state: 'handing over', error: { code: 'rotate/sink-away' } })
  expect(await works()).toBe(true)
  rmSync(refusing)
  await run.handle.signal('nudge')
  expect(await run.ended()).toMatchObject({ state: 'done' })
  expect(await works()).toBe(true)

  // Nobody can say what a command did that was ended.
  const count = join(folder, 'count')
  const killed = `cat > ${path}; test -e ${count} || { touch ${count}; kill -9 $$; }`
  expect(await (await begin(user, { kind: 'command', command: killed })).ended()).toMatchObject({ state: 'done' })
  expect(await works()).toBe(true)

  // A file that has the key needs no second one beside it.
  losesHanded(() => mkdirSync(join(`${path}.new`, 'occupied'), { recursive: true }))
  expect(await (await begin(user, { kind: 'file', path })).ended()).toMatchObject({ state: 'done' })
  expect(await works()).toBe(true)
  rmSync(`${path}.new`, { recursive: true })

  // The new key is gone from the data folder: nobody can hand it over again, and it is not taken away.
  losesHanded(() => rmSync(join(folder, 'rotation-keys'), { recursive: true }))
  const partial = await (await begin(user, { kind: 'file', path })).ended()
  expect(partial).toMatchObject({ state: 'partial', error: { code: 'rotate/key-missing' } })
  expect(partial.error!.message).toContain('its sink may have the new key, so both keys stay')
  expect((await publicKeysOf(user.userId)).length).toBe(2)
  expect(await works()).toBe(true)
})

test('a file that cannot take the new key is found out before one is registered, and before another makes room', async () => {
  const { user, path } = await makeUser('nowhere')
  const missing = join(folder, 'missing', 'new.key')
  const sinks: readonly RotationSink[] = [
    { kind: 'file', path: missing },
    { kind: 'env-file', path: missing, variable: 'CI_KEY' },
    { kind: 'file', path: '/proc/new.key' },
    { kind: 'env-file', path: folder, variable: 'CI_KEY' },
  ]
  for (const sink of sinks) {
    const ended = await (await begin(user, sink)).ended()
    expect(ended).toMatchObject({ state: 'failed', error: { code: 'rotate/sink-failed' }, activities: {} })
    expect(ended.error!.message).toContain('cannot be written: ')
  }
  expect(await publicKeysOf(user.userId)).toEqual([user.publicKey])
  expect(readFileSync(path, 'utf8').trim()).toBe(user.privateKey)
})

test('a store that stays away for longer than the order allows is given up: the new key is taken away again, and that is said', async () => {
  const { user } = await makeUser('storeless')
  secrets.vault.set('secret/away', { version: 1, fields: { key: user.privateKey } })
  secrets.status = 503
  const sink = { kind: 'store', store: 'vault', path: 'secret/away' } as const
  const patient = await begin(user, sink)
  await patient.until(({ error }) => error?.code === 'rotate/sink-away')
  expect((await keysOf(user.userId)).length).toBe(2)
  secrets.status = undefined
  expect(await patient.ended()).toMatchObject({ state: 'done' })
  secrets.status = 503
  const [key] = await publicKeysOf(user.userId)
  const hasty = await (await begin(user, sink, { awayMs: 1 })).ended()
  secrets.status = undefined
  expect(hasty).toMatchObject({ state: 'failed', error: { code: 'rotate/sink-failed' } })
  expect(hasty.error!.message).toContain('did not answer')
  expect(Object.keys(hasty.activities)).toEqual(['create', 'undo'])
  expect(await publicKeysOf(user.userId)).toEqual([key])
})

test('a command opens the new key as a file, and may print what it wants', async () => {
  const { user, path } = await makeUser('file')
  const command = `yes | head -c 100000; cat /dev/stdin > ${path}`
  expect(await (await begin(user, { kind: 'command', command })).ended()).toMatchObject({ state: 'done' })
  expect(await publicKeysOf(user.userId)).toEqual([service.client(readFileSync(path, 'utf8').trim()).publicKey])
})

test('a store of secrets that takes the key and loses the answer, and then refuses, is asked on: both keys stay until it says so', async () => {
  const user = await addUser('vaulted')
  secrets.vault.set('secret/ci', { version: 3, fields: { key: user.privateKey, region: 'eu' } })
  secrets.losing = 1
  secrets.refusingAfter = true
  const run = await begin(user, { kind: 'store', store: 'vault', path: 'secret/ci' })
  const away = await run.until(({ error }) => error?.message.includes('403') === true)
  expect(away).toMatchObject({ state: 'handing over', error: { code: 'rotate/sink-away' } })
  expect((await publicKeysOf(user.userId)).length).toBe(2)
  secrets.refusingAfter = false
  await run.handle.signal('nudge')
  expect(await run.ended()).toMatchObject({ state: 'done', proof: 'refused' })
  const { version, fields } = secrets.vault.get('secret/ci')!
  expect([version, fields['region']]).toEqual([4, 'eu'])
  expect(await publicKeysOf(user.userId)).toEqual([service.client(fields['key'] as string).publicKey])
  const history = await openHistory(await run.handle.fetchHistory(), run.handle.workflowId, testSeal)
  for (const secret of [fields['key'] as string, user.privateKey]) expect(history).not.toContain(secret)

  const unhanded = await begin(user, { kind: 'store', store: 'vault', path: 'forbidden/ci' })
  expect(await unhanded.ended()).toMatchObject({ state: 'failed', error: { code: 'rotate/sink-failed' } })
  expect((await publicKeysOf(user.userId)).length).toBe(1)
})

test('a worker with the key of another user makes no key, says so in the ledger too, and one with the right key goes on', async () => {
  const { user, sink } = await makeUser('others')
  const right = own
  const { privateKey } = await createTestUser(service, 'stranger')
  const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
  own = createSubmitClient({ baseUrl: service.url, organizationId: service.organizationId, stamper })
  const by = { userId: service.rootUserId, userName: 'root', publicKey: service.root.publicKey }
  const run = await begin(user, sink, { by }, rotationWorkflowId(service.organizationId, user.userId))
  const refused = await run.until(({ error }) => error !== undefined)
  const message = expect.stringMatching(
    /^the rotation of `.+` of `a user` was begun by root, and this worker has stranger's key$/,
  )
  expect(refused).toMatchObject({ state: 'creating', error: { code: 'apply/other-user', message } })
  expect(await store.rotations.getProgress(run.order.rotationId)).toMatchObject({ error: { message } })
  expect(await publicKeysOf(user.userId)).toEqual([user.publicKey])
  // As those are told who hear of what is stuck.
  const place = { client: temporal.client, organizationId: service.organizationId, dataDir: folder }
  const told = (await progressOfRotations(place)).find(({ rotationId }) => rotationId === run.order.rotationId)
  expect(told).toMatchObject({ state: 'creating', error: { code: 'apply/other-user' } })
  expect(told).not.toHaveProperty('end')
  own = right
  await run.handle.signal('nudge')
  expect(await run.ended()).toMatchObject({ state: 'done', proof: 'refused' })
})

test('the key that acts rotates itself, and goes on with the new one', async () => {
  const path = join(folder, 'root.key')
  writeFileSync(path, `${service.root.privateKey}\n`, { mode: 0o600 })
  const root = { ...service.root, userId: service.rootUserId }
  const progress = await (await begin(root, { kind: 'file', path })).ended()
  expect(progress).toMatchObject({ state: 'done', proof: 'refused' })
  Object.assign(service.root, service.client(readKey(path).privateKey))
  expect(await service.root.query('whoami')).toMatchObject({ userId: root.userId })
})

test('a user with as many keys as there may be is refused until the one to drop is named, which goes first', async () => {
  const { user, sink } = await makeUser('full')
  const names = Array.from({ length: 9 }, (_, index) => `spare-${index}`)
  const apiKeys = names.map((apiKeyName) => ({
    apiKeyName,
    publicKey: generateP256KeyPair().publicKey,
    curveType: 'API_KEY_CURVE_P256',
  }))
  await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: user.userId, apiKeys })
  const client = createSubmitClient({
    baseUrl: service.url,
    organizationId: service.organizationId,
    stamper: createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) }),
  })
  const at = { now: Date.now(), organizationName: 'acme' }
  const request = { user: user.userId, key: user.publicKey, overlapMs: 0, sink }
  await expect(orderRotation(client, request, at)).rejects.toMatchObject({ code: 'rotate/no-room', exit: 4 })
  await expect(orderRotation(client, { ...request, drop: user.publicKey }, at)).rejects.toMatchObject({
    code: 'rotate/no-room',
  })
  await expect(orderRotation(client, { ...request, key: 'spare-11' }, at)).rejects.toMatchObject({
    code: 'rotate/no-such-key',
  })
  const order = await orderRotation(client, { ...request, drop: 'spare-3' }, at)
  const progress = await (await begin(user, sink, { drop: order.drop! })).ended('rotate-drop')
  expect(progress).toMatchObject({ state: 'done' })
  expect(Object.keys(progress.activities)).toEqual(['drop', 'create', 'delete'])
  const left = (await keysOf(user.userId)).map(({ apiKeyName }) => apiKeyName)
  expect(left.length).toBe(9)
  expect(left).not.toContain('spare-3')
})

test('of a user with as many expiring keys as there may be, the key is named that the service would evict, and a rotation evicts none', async () => {
  const { user, sink } = await makeUser('fleeting')
  const expiring = (apiKeyName: string) =>
    service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
      userId: user.userId,
      apiKeys: [
        {
          apiKeyName,
          publicKey: generateP256KeyPair().publicKey,
          curveType: 'API_KEY_CURVE_P256',
          expirationSeconds: String(30 * 86_400),
        },
      ],
    })
  const names = Array.from({ length: 10 }, (_, index) => `brief-${index}`)
  for (const name of names) await expiring(name)
  const at = { now: Date.now(), organizationName: 'acme' }
  const request = { user: user.userId, key: 'brief-5', overlapMs: 0, sink }
  const refused = await orderRotation(rootClient(), request, at).catch((error: Error) => error.message)
  const [, named] = /the service would delete `(.+)` \(/.exec(String(refused)) ?? []
  const namesNow = async () => (await keysOf(user.userId)).map(({ apiKeyName }) => apiKeyName)
  expect((await namesNow()).length).toBe(11)
  // What the service does with one more says which it evicts.
  await expiring('one more')
  const before = [user, ...names].length
  const left = await namesNow()
  expect(left.length).toBe(before)
  expect(names.filter((name) => !left.includes(name))).toEqual([named])

  const order = await orderRotation(rootClient(), { ...request, drop: 'brief-7' }, at)
  const { organizationId } = service
  const place = { client: temporal.client, organizationId, taskQueue: organizationId, dataDir: folder }
  const progress = await (await beginRotation(place, order)).handle.result()
  expect(progress).toMatchObject({ state: 'done', proof: 'not registered' })
  const wanted = left.filter((name) => name !== 'brief-7')
  expect((await namesNow()).toSorted()).toEqual(wanted.toSorted())
  const renewed = (await keysOf(user.userId)).find(({ apiKeyName }) => apiKeyName === 'brief-5')
  expect(renewed).toMatchObject({
    expirationSeconds: String(30 * 86_400),
    credential: progress.new && { publicKey: progress.new.publicKey },
  })
})

test('one that is reset at Temporal to its beginning, during its overlap and after its end, ends as it would have: one new key, one end', async () => {
  const { user, path, sink } = await makeUser('reset')
  const run = await begin(user, sink, { overlapMs: 6_000 })
  const reset = async () => {
    const { workflowId } = run.handle
    const latest = temporal.client.workflow.getHandle<typeof rotate>(workflowId)
    const { runId } = await latest.describe()
    await temporal.client.workflowService.resetWorkflowExecution({
      namespace: temporal.namespace,
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: 4 as never,
      requestId: `reset ${runId}`,
    })
    const again = temporal.client.workflow.getHandle<typeof rotate>(workflowId)
    expect((await again.describe()).runId).not.toBe(runId)
    return again
  }
  await run.until(({ state }) => state === 'overlap')
  const first = await (await reset()).result()
  expect(first).toMatchObject({ state: 'done', proof: 'refused' })
  expect(await publicKeysOf(user.userId)).toEqual([readKey(path).publicKey])
  const second = await (await reset()).result()
  expect(second).toEqual(first)
  expect(await store.rotations.getProgress(run.order.rotationId)).toEqual(first)
  expect(await publicKeysOf(user.userId)).toEqual([readKey(path).publicKey])
  const { activities } = await service.root.query('list_activities', {
    filterByType: ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'ACTIVITY_TYPE_DELETE_API_KEYS'],
    paginationOptions: { limit: '100' },
  })
  expect(activities.filter(({ intent }) => JSON.stringify(intent).includes(user.userId)).length).toBe(2)
})

test('it waits for people where a quorum is needed, before the new key and before the old one goes', async () => {
  const { user, sink } = await makeUser('guarded')
  const bob = await addUser('bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const run = await begin(user, sink)
  for (const part of ['create', 'delete'] as const) {
    const { waiting } = await run.until((one) => one.waiting?.part === part)
    expect(await publicKeysOf(user.userId)).toContain(user.publicKey)
    const { rotationId } = run.order
    expect(await store.rotations.find(waiting!.activityId)).toMatchObject({ part, order: { rotationId } })
    await bob.approve(waiting!.fingerprint)
    await run.handle.signal('nudge')
  }
  const progress = await run.ended('rotate-waited')
  expect(progress).toMatchObject({ state: 'done', proof: 'refused' })
  expect(await publicKeysOf(user.userId)).toEqual([progress.new!.publicKey])

  const again = await begin(user, sink)
  const { waiting } = await again.until((one) => one.waiting?.part === 'create')
  await bob.approve(waiting!.fingerprint)
  const deletion = await again.until((one) => one.waiting?.part === 'delete')
  await bob.reject(deletion.waiting!.fingerprint)
  await again.handle.signal('nudge')
  expect(await again.ended()).toMatchObject({ state: 'partial', error: { code: 'apply/rejected' } })
  expect((await keysOf(user.userId)).length).toBe(2)
})
