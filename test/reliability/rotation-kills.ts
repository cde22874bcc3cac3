/**
 * A worker, or the service, is killed before or after the work of each step of a rotation, while a signer works with the key that
 * stands in the file: of one that goes through, of one that drops a named key first, of one whose sink fails so that the new key
 * is taken away again, and of each where a quorum is to approve. What must hold: the rotation ends by itself as it would have, each
 * of its activities is made once, no request of the signer is refused, and its user is never without a credential.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createPlanStore, type RotationPart } from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { orderRotation } from '../../src/operations/index.ts'
import { castVote } from '../../src/operations/waiting.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal, type TemporalSettings } from '../../src/worker/index.ts'
import type { rotate } from '../../workflows/index.ts'
import { readClient, startProcess } from '../service/process.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { kill } from './field.ts'
import { line } from './figures.ts'
import { startWorkerProcess } from './start-worker.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

type DiesAt = NonNullable<WorkerProcessSettings['diesAt']>

export interface DeathPoint extends DiesAt {
  /** @default 'through' */
  readonly way?: 'through' | 'drop' | 'undo'
  /** Whether each of its activities waits for a second approver. @default false */
  readonly quorum?: boolean
}

/** Steps of a rotation that goes through, in their order. */
const STEPS = [
  { step: 'loadRotation' },
  { step: 'makeRotationKey' },
  { step: 'prepareRotation', part: 'create' },
  { step: 'submitRotation', part: 'create' },
  { step: 'verifyRotation' },
  { step: 'handOverKey' },
  { step: 'prepareRotation', part: 'delete' },
  { step: 'submitRotation', part: 'delete' },
  { step: 'proveRotation' },
  { step: 'recordRotation' },
] as const

/** What another way has besides. */
const OF_WAY = (['drop', 'undo'] as const).flatMap((way) =>
  (['prepareRotation', 'submitRotation'] as const).map((step) => ({ step, part: way, way })),
)

const WHEN = ['before', 'after'] as const

/** As a part comes to wait, while it waits, and as the approval is heard of. */
const stopsOf = (part: RotationPart, way: NonNullable<DeathPoint['way']>): readonly DeathPoint[] => [
  { step: 'submitRotation', part, way, when: 'after', quorum: true },
  { step: 'pollRotation', part, way, when: 'before', quorum: true },
  { step: 'pollRotation', part, way, when: 'after', finds: 'completed', quorum: true },
]

export const DEATH_POINTS: readonly DeathPoint[] = [
  ...[...STEPS, ...OF_WAY].flatMap((one) => WHEN.map((when) => ({ ...one, when }))),
  ...stopsOf('create', 'through'),
  ...stopsOf('delete', 'through'),
  ...stopsOf('drop', 'drop'),
  ...stopsOf('undo', 'undo'),
]

export interface RotationKills {
  readonly points: number
  readonly killed: number
  /** Ended as they would have: done or, where the sink fails, failed. */
  readonly ended: number
  /** Users who have the keys that they are to have, and no other. */
  readonly right: number
  /** Keys made or deleted by more than one activity. */
  readonly dup: number
  readonly fewestKeys: number
  readonly signed: number
  /** Requests of a signer that nobody answered, or not whole: the service was killed, or was not up again yet. */
  readonly away: number
  /** Refused, and answered later than the overlap after the key was read: the signer was told to read it again before. */
  readonly late: number
  /** Refused in time, which no request may be. Each is told on stderr as well. */
  readonly refused: number
}

const OVERLAP_MS = 3_000
const SIGN_EVERY_MS = 200
const MOST_KEYS = 10
const CHANGES = ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'ACTIVITY_TYPE_DELETE_API_KEYS'] as const
const ENDS = { through: 'done', drop: 'done', undo: 'failed' } as const
const ACTIVITIES = { through: 2, drop: 3, undo: 2 } as const

export async function killInRotations({
  temporal: server,
  points = DEATH_POINTS,
  victim = 'worker',
  atOnce = victim === 'worker' ? 4 : 1,
}: {
  readonly temporal: TemporalSettings
  readonly points?: readonly DeathPoint[]
  /** @default 'worker' */
  readonly victim?: 'worker' | 'service'
  readonly atOnce?: number
}): Promise<RotationKills> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-rotation-kills-'))
  const dataDir = join(folder, 'service')
  const bundleFile = join(folder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const temporal = await connectTemporal(server, testSeal)
  let service = await startProcess(dataDir)
  const baseUrl = service.url
  const root = readClient(dataDir)
  const { organizationId, rootUserId } = root
  const { apiPrivateKey } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>
  const clientOf = (privateKey: string): SubmitClient =>
    createSubmitClient({
      baseUrl,
      organizationId,
      stamper: createApiKeyStamper({ privateKey: new Secret(privateKey) }),
    })
  const own = clientOf(apiPrivateKey!)
  const keysOf = async (userId: string) => {
    const { apiKeys } = await insist(() => own.query('get_api_keys', { userId }))
    return apiKeys.map(({ apiKeyName: name, credential }) => ({ name, publicKey: credential.publicKey }))
  }
  const submit = async (type: Parameters<typeof root.body>[0], parameters: object) => {
    const activity = await root.send(baseUrl, root.body(type, parameters))
    if (activity?.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(`${type} is ${activity?.status}`)
    return activity.result
  }
  const addUser = async (userName: string, keys: number) => {
    const pairs = Array.from({ length: keys }, () => generateP256KeyPair())
    const apiKeys = pairs.map(({ publicKey }, n) => {
      return { apiKeyName: `${userName}-${n}`, publicKey, curveType: 'API_KEY_CURVE_P256' }
    })
    const users = [{ userName, apiKeys, authenticators: [], oauthProviders: [], userTags: [] }]
    const result = await submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users })
    const { userIds } = (result as unknown as { createUsersResult: { userIds: string[] } }).createUsersResult
    return { userId: userIds[0]!, pairs }
  }
  const setQuorum = async (threshold: number, userIds: readonly string[]) => {
    await submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold, userIds })
  }

  const none = { killed: 0, ended: 0, right: 0, dup: 0, fewestKeys: 99, signed: 0, away: 0, late: 0, refused: 0 }
  const sum = { points: points.length, ...none }
  const users = new Map<DeathPoint, Awaited<ReturnType<typeof addUser>>>()
  for (const [index, point] of points.entries()) {
    users.set(point, await addUser(`ci-${index}`, point.way === 'drop' ? MOST_KEYS : 1))
  }
  const bob = await addUser('bob', 1)
  let over = false
  /** When the service came up last. */
  let upAt = performance.now()

  const killIn = async (point: DeathPoint, index: number) => {
    const { way = 'through', quorum: _, ...diesAt } = point
    const { userId, pairs } = users.get(point)!
    const keyPath = join(folder, `${index}.key`)
    writeFileSync(keyPath, JSON.stringify({ privateKey: pairs[0]!.privateKey }), { mode: 0o600 })
    const storeFolder = join(folder, `machine-${index}`)
    const plans = createPlanStore(join(storeFolder, 'plans'))
    const failing = { kind: 'command', command: 'cat > /dev/null; exit 3' } as const
    const sink = way === 'undo' ? failing : ({ kind: 'file', path: keyPath } as const)
    const drop = way === 'drop' ? { drop: pairs[1]!.publicKey } : {}
    const request = { user: userId, key: pairs[0]!.publicKey, overlapMs: OVERLAP_MS, sink, ...drop }
    const order = await insist(() => orderRotation(own, request, { now: Date.now(), organizationName: 'acme' }))
    await plans.rotations.enter(order)
    const settings: WorkerProcessSettings = {
      temporal: server,
      taskQueue: `rotation-${randomUUID()}`,
      baseUrl,
      organizationId,
      privateKey: apiPrivateKey!,
      storeFolder,
      bundleFile,
      naive: false,
      rotates: true,
    }
    const handle = await temporal.client.workflow.start<typeof rotate>('rotate', {
      workflowId: `rotate/${organizationId}/${userId}`,
      taskQueue: settings.taskQueue,
      args: [{ organizationId, rotationId: order.rotationId }],
    })
    let isOver = false
    const signing = (async () => {
      for (; !isOver; await delay(SIGN_EVERY_MS)) {
        const readAt = performance.now()
        const { privateKey } = JSON.parse(readFileSync(keyPath, 'utf8')) as { privateKey: string }
        await clientOf(privateKey)
          .query('whoami', {})
          .then(
            () => sum.signed++,
            async (error: unknown) => {
              const tookMs = Math.round(performance.now() - readAt)
              if (isAway(error)) sum.away++
              // Asked again while the service was away, it may come later than the overlap after its key was replaced.
              else if (tookMs > OVERLAP_MS) sum.late++
              else {
                sum.refused++
                const { code, message } = error as { readonly code?: string; readonly message: string }
                const upMs = Math.round(performance.now() - upAt)
                const { facts } = error as { readonly facts?: object }
                const at = new Date().toISOString()
                const stands = await handle.query('progress').catch((reason: unknown) => String(reason))
                const told = { at, tookMs, upMs, facts: JSON.stringify(facts), rotation: JSON.stringify(stands) }
                console.error(line({ ...diesAt, way, refused: `${code}: ${message}`, ...told }))
              }
            },
          )
        sum.fewestKeys = Math.min(sum.fewestKeys, (await keysOf(userId)).length)
      }
    })()
    const first = startWorkerProcess({
      ...settings,
      diesAt: { ...diesAt, ...(victim === 'service' ? { kills: service.pid } : {}) },
    })
    if (victim === 'service') {
      await service.gone()
      sum.killed++
      service = await startProcess(dataDir, { port: Number(new URL(baseUrl).port) })
      upAt = performance.now()
    } else {
      await once(first, 'exit')
      if (first.signalCode === 'SIGKILL') sum.killed++
    }
    const second = victim === 'service' ? first : startWorkerProcess(settings)
    const { state, new: renewed } = await handle.result()
    isOver = true
    await signing
    await kill(second)
    if (state === ENDS[way]) sum.ended++
    const had = pairs.map(({ publicKey }) => publicKey)
    const wanted = way === 'undo' ? had : [...had.slice(way === 'drop' ? 2 : 1), renewed?.publicKey]
    const left = (await keysOf(userId)).map(({ publicKey }) => publicKey)
    if (JSON.stringify(left.toSorted()) === JSON.stringify(wanted.toSorted())) sum.right++
    const { activities } = await insist(() =>
      own.query('list_activities', {
        filterByType: [...CHANGES],
        filterByStatus: [],
        paginationOptions: { limit: '100' },
      }),
    )
    const made = activities.filter(({ intent }) => JSON.stringify(intent).includes(userId))
    sum.dup += Math.max(0, made.length - ACTIVITIES[way])
  }
  const killAll = async (some: readonly DeathPoint[]) => {
    const waiting = some.map((point) => [point, points.indexOf(point)] as const)
    const take = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await killIn(...next)
    }
    await Promise.all(Array.from({ length: atOnce }, take))
  }
  /** Approves by bob whatever waits. */
  const vote = async () => {
    const client = clientOf(bob.pairs[0]!.privateKey)
    for (; !over; await delay(500)) {
      const { activities } = await client
        .query('list_activities', {
          filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
          filterByType: [],
          paginationOptions: { limit: '20' },
        })
        .catch(() => ({ activities: [] }))
      for (const { fingerprint, votes } of activities) {
        if (votes.some(({ userId }) => userId === bob.userId)) continue
        await castVote(client, fingerprint, { vote: 'approve', now: Date.now() }).catch(() => {})
      }
    }
  }
  try {
    await killAll(points.filter(({ quorum = false }) => !quorum))
    const guarded = points.filter(({ quorum }) => quorum)
    if (guarded.length > 0) {
      await setQuorum(2, [rootUserId, bob.userId])
      const voting = vote()
      await killAll(guarded)
      over = true
      await voting
    }
    return sum
  } finally {
    over = true
    await temporal.close()
    await service.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The service was killed, or was not up again yet: no answer came, or one that breaks off. Nobody refused anything. */
function isAway(error: unknown): boolean {
  const { code = '' } = error as { readonly code?: string }
  return code === 'client/unreachable'
}

/** Asks until somebody answers. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!isAway(error)) throw error
      await delay(50)
    }
  }
}
