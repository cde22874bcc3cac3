/** Rotates an API key: what is ordered, begun and followed. */
import { randomBytes } from 'node:crypto'
import type { WorkflowHandle } from '@temporalio/client'
import {
  ApplyError,
  createRotationKeys,
  isRotationOver,
  type PlanStore,
  type RotationOrder,
  type RotationProgress,
  type RotationSink,
  sinkInWords,
} from '../../activities/index.ts'
import type { RotateInput, rotate } from '../../workflows/index.ts'
import { rotationWorkflowId } from '../../workflows/names.ts'
import type { QueryClient } from '../client/index.ts'
import { suggest } from '../diagnostics/index.ts'
import { resourceLimits, type Wire } from '../protocol/index.ts'
import type { Secret } from '../telemetry/index.ts'
import { type ApplyPlace, assertWorker } from './apply.ts'
import { followRun } from './follow.ts'
import { findEarlier, giveUpRotation, rotationKeysOf, rotationsOf } from './open-rotations.ts'
import { foreignEndOf, ROTATION } from './run-end.ts'
import { startShown } from './search-attributes.ts'
import { isAlreadyStarted, isNotFound } from './temporal-errors.ts'

export type RotationHandle = WorkflowHandle<typeof rotate>

export interface RotationRequest {
  /** Name or id of the user. */
  readonly user: string
  /** Name, id or public key of the key. */
  readonly key: string
  /** Another key of the user, which may be deleted to make room. */
  readonly drop?: string | undefined
  readonly overlapMs: number
  readonly sink: RotationSink
  readonly awayMs?: number
  readonly askAgain?: boolean
  /** Ids of keys that are being replaced: during the overlap two keys have one name. */
  readonly replaced?: readonly string[]
}

/** When, where and by whom a rotation is ordered. */
export interface OrderedWhere {
  readonly now: number
  readonly organizationName: string
  /** @default nobody: a worker with any key submits it */
  readonly by?: RotationOrder['by']
}

/** Who orders a rotation with a key, and where. */
export async function orderedWhere(client: QueryClient, now: number): Promise<OrderedWhere> {
  const { organizationName, userId, username } = await client.query('whoami', {})
  return { now, organizationName, by: { userId, userName: username, publicKey: client.publicKey } }
}

/**
 * Looks everything up that a rotation needs, and counts the limits first. Throws `rotate/no-such-key` and, where the user has no
 * room for another key, `rotate/no-room`; nothing has been submitted by then.
 */
export async function orderRotation(
  client: QueryClient,
  { user: userName, key: keyName, drop: dropName, replaced = [], ...more }: RotationRequest,
  at: OrderedWhere,
): Promise<RotationOrder> {
  const { users } = await client.query('list_users', {})
  const user = findUser(users, userName)
  const { apiKeys } = await client.query('get_api_keys', { userId: user.userId })
  const keys = apiKeys.filter(({ credential }) => credential.type.startsWith('CREDENTIAL_TYPE_API_KEY_'))
  const find = (name: string) => {
    const found = keys.filter(
      ({ apiKeyId, apiKeyName, credential }) =>
        apiKeyId === name || apiKeyName === name || credential.publicKey.toLowerCase() === name.toLowerCase(),
    )
    const known = keys.map((one) => one.apiKeyName)
    const underWay = found.length > 1 ? found.filter(({ apiKeyId }) => replaced.includes(apiKeyId)) : found
    const of = { what: 'API key', name, known, idOf: ({ apiKeyId }: Wire.ApiKey) => apiKeyId }
    return single(underWay.length === 1 ? underWay : found, of)
  }
  const key = find(keyName)
  if (key.credential.type !== 'CREDENTIAL_TYPE_API_KEY_P256') {
    throw new ApplyError('rotate/no-such-key', `\`${key.apiKeyName}\` is no P-256 key; only those are rotated`, {
      facts: { is: key.credential.type, submitted: 'nothing' },
      next: 'register a new key of its curve by definitions, then remove this one from them',
    })
  }
  const drop = dropName === undefined ? undefined : find(dropName)
  if (drop?.apiKeyId === key.apiKeyId) {
    throw new ApplyError(
      'rotate/no-room',
      'the key to drop is the one that is rotated: the user would have none of the two',
      {
        facts: { submitted: 'nothing' },
      },
    )
  }
  const expiresIn = key.expirationSeconds ? Number(key.expirationSeconds) : undefined
  // The new key of one that is under way is among them already.
  const isUnderWay = replaced.includes(key.apiKeyId)
  const loses = isUnderWay ? undefined : losesTo(apiKeys, expiresIn !== undefined, at.now)
  if (loses !== undefined && !drop) throw noRoom(user.userName, loses, keys)
  return {
    rotationId: randomBytes(32).toString('hex'),
    organization: { id: client.organizationId, name: at.organizationName, baseUrl: client.baseUrl },
    user: { id: user.userId, name: user.userName },
    key: described(key),
    ...(expiresIn === undefined ? {} : { expiresIn }),
    // Room that is there is not made.
    ...(drop && loses !== undefined ? { drop: described(drop) } : {}),
    ...more,
    orderedAt: new Date(at.now).toISOString(),
    ...(at.by === undefined ? {} : { by: at.by }),
  }
}

const described = ({ apiKeyId: id, apiKeyName: name, credential: { publicKey } }: Wire.ApiKey) => ({
  id,
  name,
  publicKey: publicKey.toLowerCase(),
})

/**
 * What a new key would cost: `full` where it is refused, the key that the service evicts for an expiring one, undefined where there is
 * room (docs/protocol/limits.md#resources). Keys of sessions expire, and count.
 */
function losesTo(keys: readonly Wire.ApiKey[], expires: boolean, now: number): 'full' | Wire.ApiKey | undefined {
  const { longLivedApiKeysPerUser, expiringApiKeysPerUser } = resourceLimits.parent
  const isExpiring = ({ expirationSeconds }: Wire.ApiKey) => Boolean(expirationSeconds)
  if (!expires) {
    return keys.filter((one) => !isExpiring(one)).length >= longLivedApiKeysPerUser ? 'full' : undefined
  }
  const expiring = keys.filter(isExpiring).toSorted((a, b) => createdAt(a) - createdAt(b))
  if (expiring.length < expiringApiKeysPerUser) return undefined
  const isPast = (one: Wire.ApiKey) => createdAt(one) + Number(one.expirationSeconds) * 1000 <= now
  return expiring.find(isPast) ?? expiring[0]
}

function createdAt({ createdAt: at }: Wire.ApiKey): number {
  return Number(at.seconds) * 1000 + Number(at.nanos) / 1e6
}

function noRoom(user: string, loses: 'full' | Wire.ApiKey, keys: readonly Wire.ApiKey[]): ApplyError {
  const why =
    loses === 'full'
      ? `\`${user}\` has ${resourceLimits.parent.longLivedApiKeysPerUser} long-lived API keys, as many as there may be`
      : `\`${user}\` has ${resourceLimits.parent.expiringApiKeysPerUser} expiring keys; for another one the service would delete \`${loses.apiKeyName}\` (${loses.apiKeyId}) at once`
  return new ApplyError('rotate/no-room', why, {
    facts: { keys: keys.map(({ apiKeyName }) => apiKeyName).join(', '), submitted: 'nothing' },
    next: 'name a key that nobody needs with --drop KEY; it is deleted first',
  })
}

/** The user of an id, or else the only one of a name: a user who takes the name of another is not taken for that one. Throws `rotate/no-such-key`. */
export function findUser(users: readonly Wire.User[], name: string): Wire.User {
  const byId = users.filter(({ userId }) => userId === name)
  const found = byId.length > 0 ? byId : users.filter(({ userName }) => userName === name)
  const known = users.map(({ userName }) => userName)
  return single(found, { what: 'user', name, known, idOf: ({ userId }) => userId })
}

function single<T>(
  found: readonly T[],
  of: { what: string; name: string; known: readonly string[]; idOf: (one: T) => string },
): T {
  const { what, name, known, idOf } = of
  if (found.length === 1) return found[0]!
  const [like] = suggest(name, known)
  const next =
    found.length > 1
      ? `give the id of the one: ${found.map(idOf).join(', ')}`
      : like === undefined
        ? `the names are: ${known.join(', ') || 'none'}`
        : `did you mean \`${like}\`?`
  const message =
    found.length > 1 ? `${found.length} of them are the ${what} \`${name}\`` : `there is no ${what} \`${name}\``
  throw new ApplyError('rotate/no-such-key', message, { facts: { submitted: 'nothing' }, next })
}

/**
 * Begins a rotation, or joins the one of this very key that is under way. One of this key that somebody ended at Temporal is
 * continued as it was ordered, with the same new key; what was done of it is found. Throws `rotate/other-runs` when another key
 * of the user is being rotated, or this key was ordered into another sink.
 * @param oldKey the private key that is replaced, where it is known: for the proof that it is refused
 */
export async function beginRotation(
  { client, taskQueue, dataDir }: ApplyPlace,
  order: RotationOrder,
  oldKey?: Secret,
): Promise<{ readonly handle: RotationHandle; readonly joined: boolean; readonly continued: boolean }> {
  await assertWorker(client, taskQueue)
  const rotations = rotationsOf(dataDir)
  const keys = createRotationKeys(rotationKeysOf(dataDir))
  const { organization, user } = order
  const workflowId = rotationWorkflowId(organization.id, user.id)
  const { continued, others } = await findEarlier(rotations, order)
  const { rotationId } = continued ?? order
  const handle = client.workflow.getHandle<typeof rotate>(workflowId)
  if (continued && (await foreignEndOf(handle)) !== undefined) await assertSameSink(rotations, continued, order)
  if (!continued) await rotations.enter(order)
  if (oldKey && !continued) keys.keepOld(rotationId, oldKey)
  const input: RotateInput = { organizationId: organization.id, rotationId }
  try {
    const marked = { organizationId: organization.id, carriesOut: rotationId }
    await startShown(client, marked, (shown) =>
      client.workflow.start<typeof rotate>('rotate', {
        workflowId,
        taskQueue,
        args: [{ ...input, ...shown.input }],
        workflowIdConflictPolicy: 'FAIL',
        ...shown.options,
      }),
    )
  } catch (error) {
    // Temporal may have taken the start, and the answer was lost. Where nobody can say, the order stays as it is.
    const running = await progressOf(handle)
    const isOwn = running?.rotationId === rotationId
    if (!continued && !isOwn) {
      await rotations.mark(rotationId, 'over', 'not begun')
      keys.forget(rotationId, 'both')
    }
    if (isAlreadyStarted(error)) {
      if (running?.old.id === order.key.id || isOwn) return { handle, joined: true, continued: false }
      const facts = running ? { since: running.startedAt, state: running.state } : {}
      const message = `the key \`${running?.key ?? 'of another order'}\` of \`${user.name}\` is being rotated`
      throw new ApplyError('rotate/other-runs', message, { facts: { ...facts, submitted: 'nothing of this one' } })
    }
    if (!isOwn) throw error
  }
  // The workflow id is the lock: none of these runs.
  for (const one of others) await giveUpRotation(dataDir, one.rotationId)
  return { handle, joined: false, continued: continued !== undefined }
}

/** How the rotation of a user stands at Temporal; undefined: there is none. */
async function progressOf(handle: RotationHandle): Promise<RotationProgress | undefined> {
  try {
    return await handle.query<RotationProgress>('progress')
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Before the new key was handed over, its sink matters. */
async function assertSameSink(
  rotations: PlanStore['rotations'],
  continued: RotationOrder,
  { key, sink }: RotationOrder,
): Promise<void> {
  if ((await rotations.marked(continued.rotationId, 'handed')) !== undefined) return
  if (JSON.stringify(continued.sink) === JSON.stringify(sink)) return
  throw new ApplyError(
    'rotate/other-runs',
    `a rotation of \`${key.name}\` into another sink was ended at Temporal before the new key was handed over`,
    {
      facts: { sink: sinkInWords(continued.sink), submitted: 'nothing of this one' },
      next: 'give the sink that it was ordered with, or give it up with `quorate status --cancel`',
    },
  )
}

/** The rotation whose new key this is, if one was ordered from this data folder. */
export async function rotationThatMade(dataDir: string, keyId: string): Promise<RotationProgress | undefined> {
  const rotations = rotationsOf(dataDir)
  for (const { rotationId } of await rotations.list()) {
    const progress = await rotations.getProgress(rotationId)
    if (progress?.new?.id === keyId) return progress
  }
  return undefined
}

/** Follows a rotation until it is over, or until `until` says that this is enough. Throws `cli/run-ended`. */
export function followRotation(
  handle: RotationHandle,
  show: (progress: RotationProgress) => void,
  until: (progress: RotationProgress) => boolean | Promise<boolean>,
): Promise<RotationProgress> {
  const shown = ({ state, waiting, error }: RotationProgress) => JSON.stringify([state, waiting, error])
  return followRun(handle, ROTATION, {
    ask: () => handle.query<RotationProgress>('progress'),
    show: (progress, before) => {
      if (before === undefined || shown(before) !== shown(progress)) show(progress)
    },
    isEnough: (progress) => isRotationOver(progress) || until(progress),
  })
}
