/** Rotates the API keys of many users: which are old enough, whether each has room for a new one, and how those of late stand. */
import { randomBytes } from 'node:crypto'
import { ApplyError, type RotationOrder, type RotationProgress, type RotationSink } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { resourceLimits, type Wire } from '../protocol/index.ts'
import { rotationsOf } from './open-rotations.ts'
import { findUser, type OrderedWhere } from './rotate.ts'

/** A key that is due. */
export interface DueKey {
  readonly user: RotationOrder['user']
  readonly key: RotationOrder['key']
  /** ISO 8601. */
  readonly createdAt: string
}

/** A key that is old enough and is not rotated with the others, and why. */
export interface LeftKey extends DueKey {
  readonly why: 'expires' | 'other curve' | 'in use' | 'left out'
}

export interface RotationOfManyRequest {
  /** Keys that were made at least so long ago are due. */
  readonly olderThanMs: number
  /** Names or ids of users whose keys are left alone. */
  readonly except: readonly string[]
  readonly overlapMs: number
  /** Where the new key of one that is due goes. */
  readonly sinkOf: (due: DueKey) => RotationSink
  readonly awayMs?: number
  readonly askAgain: boolean
  /** Lower-case public key that the command works with. */
  readonly own: string
  /** Ids of keys that are being replaced: their new keys are there already. */
  readonly replaced: readonly string[]
}

export interface RotationOfMany {
  /** The oldest key first. */
  readonly orders: readonly RotationOrder[]
  readonly left: readonly LeftKey[]
}

/**
 * Looks up the keys that are due, in one query, and counts the limits of all of their users before anything is submitted. A key that
 * expires is left: it ends by itself. Throws `rotate/no-room` with every user who has no room for another key, and
 * `rotate/no-such-key` for one to leave out who is not there, or whose name another one bears as well.
 */
export async function orderRotations(
  client: QueryClient,
  request: RotationOfManyRequest,
  at: OrderedWhere,
): Promise<RotationOfMany> {
  const { users } = await client.query('list_users', {})
  const except = new Set(request.except.map((name) => findUser(users, name).userId))
  const due: DueKey[] = []
  const left: LeftKey[] = []
  for (const user of users) {
    for (const one of user.apiKeys) {
      // A session’s key is no API key that somebody keeps.
      if (!one.credential.type.startsWith('CREDENTIAL_TYPE_API_KEY_')) continue
      if (createdAt(one) > at.now - request.olderThanMs) continue
      const described = describe(user, one)
      const why = reasonToLeave(one, { own: request.own, isExcept: except.has(user.userId) })
      if (why === undefined) due.push(described)
      else left.push({ ...described, why })
    }
  }
  assertRoom(users, due, request.replaced)
  const orders = due.toSorted(byAge).map((one): RotationOrder => {
    const { user, key } = one
    return {
      rotationId: randomBytes(32).toString('hex'),
      organization: { id: client.organizationId, name: at.organizationName, baseUrl: client.baseUrl },
      user,
      key,
      overlapMs: request.overlapMs,
      sink: request.sinkOf(one),
      ...(request.awayMs === undefined ? {} : { awayMs: request.awayMs }),
      askAgain: request.askAgain,
      orderedAt: new Date(at.now).toISOString(),
      ...(at.by === undefined ? {} : { by: at.by }),
    }
  })
  return { orders, left: left.toSorted(byAge) }
}

function describe({ userId, userName }: Wire.User, key: Wire.ApiKey): DueKey {
  const { apiKeyId: id, apiKeyName: name, credential } = key
  return {
    user: { id: userId, name: userName },
    key: { id, name, publicKey: credential.publicKey.toLowerCase() },
    createdAt: new Date(createdAt(key)).toISOString(),
  }
}

const createdAt = ({ createdAt: { seconds, nanos } }: Wire.ApiKey) => Number(seconds) * 1000 + Number(nanos) / 1e6

/** Ids break ties: the order does not depend on the order of the list. */
function byAge(one: DueKey, other: DueKey): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -1 : 1
  return one.key.id < other.key.id ? -1 : 1
}

function reasonToLeave(
  { credential, expirationSeconds }: Wire.ApiKey,
  { own, isExcept }: { readonly own: string; readonly isExcept: boolean },
): LeftKey['why'] | undefined {
  if (isExcept) return 'left out'
  if (expirationSeconds) return 'expires'
  if (credential.type !== 'CREDENTIAL_TYPE_API_KEY_P256') return 'other curve'
  return credential.publicKey.toLowerCase() === own ? 'in use' : undefined
}

/** One key of a user is rotated after the other, so that each user needs room for one. */
function assertRoom(users: readonly Wire.User[], due: readonly DueKey[], replaced: readonly string[]): void {
  const most = resourceLimits.parent.longLivedApiKeysPerUser
  const needRoom = new Set(due.filter(({ key }) => !replaced.includes(key.id)).map(({ user }) => user.id))
  const full = users
    .filter(({ userId }) => needRoom.has(userId))
    .filter(({ apiKeys }) => apiKeys.filter(({ expirationSeconds }) => !expirationSeconds).length >= most)
    .map(({ userName }) => userName)
  if (full.length === 0) return
  const have = full.length === 1 ? `\`${full[0]}\` has` : `${full.length} users have`
  throw new ApplyError('rotate/no-room', `${have} ${most} long-lived API keys, as many as there may be`, {
    facts: { users: full.toSorted().join(', '), submitted: 'nothing' },
    next: 'delete a key of each that nobody needs, rotate one with --drop, or leave the user out with --except',
  })
}

/** A rotation with how it stands. */
export interface ReportedRotation extends RotationProgress {
  readonly orderedAt: string
}

/** The rotations of an organization that were begun from a data folder since then, the oldest first. */
export async function rotationsSince(
  dataDir: string,
  organizationId: string,
  since: number,
): Promise<readonly ReportedRotation[]> {
  const rotations = rotationsOf(dataDir)
  const reported: ReportedRotation[] = []
  for (const { rotationId, organization, orderedAt } of await rotations.list()) {
    if (organization.id !== organizationId || Date.parse(orderedAt) < since) continue
    const progress = await rotations.getProgress(rotationId)
    if (progress) reported.push({ ...progress, orderedAt })
  }
  // Those of one command were ordered at one time.
  const begunAt = ({ orderedAt, startedAt }: ReportedRotation) => `${orderedAt} ${startedAt}`
  return reported.toSorted((one, other) => (begunAt(one) < begunAt(other) ? -1 : 1))
}
