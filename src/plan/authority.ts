/**
 * The one place where the plan names kinds: those that decide who may act. Everything else here is generic over the
 * catalogue; guards and the order of a quorum's change cannot be, because they are about authority itself.
 */
import { AUTH_PROXY_NAMES } from '../protocol/index.ts'
import { type Actual, type KindName, kinds, mentionsOf, type Resource, type Value } from '../resources/index.ts'

export const QUORUM = { kind: 'rootQuorum', members: 'users', threshold: 'threshold' } as const
export const MEMBER_KIND: KindName = 'user'

/**
 * Which fields of which kinds a forecast reads, whether or not definitions mention them
 * (docs/protocol/policies.md#the-decision).
 */
export const DECISIVE_FIELDS: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  rootQuorum: ['threshold', 'users'],
  tag: ['name'],
  user: ['name', 'email', 'tags'],
  mfaPolicy: ['condition', 'requiredAuthenticationMethods', 'order'],
  policy: ['name', 'effect', 'consensus', 'condition', 'time'],
}

export interface QuorumState {
  readonly threshold: number
  /** Live ids, or the addresses of members that are still to be created. */
  readonly members: readonly string[]
}

/** The quorum in a resource's fields; `memberKey` gives the key of a member, which may be a reference. */
export function quorumOf(resource: Resource | undefined, memberKey: (member: Value) => string): QuorumState {
  const members = resource?.fields[QUORUM.members]
  return {
    threshold: Number(resource?.fields[QUORUM.threshold] ?? 0),
    members: Array.isArray(members) ? (members as readonly Value[]).map(memberKey) : [],
  }
}

/** Whether it lets its user in. */
export function isCredential({ kind }: Pick<Resource, 'kind'>): boolean {
  return kinds[kind].credential !== undefined
}

/** Whether a user is a member of the root quorum as it lives. */
export function isMemberOfQuorum({ resources }: Pick<Actual, 'resources'>, userId: string): boolean {
  return quorumOf(
    resources.find(({ kind }) => kind === QUORUM.kind),
    String,
  ).members.includes(userId)
}

/** Whether this is the acting user, or the very credential in use. */
export function isActor(resource: Resource, actor: Actual['actor']): boolean {
  if (resource.kind === MEMBER_KIND) return resource.id === actor.userId
  if (!isCredential(resource)) return false
  return String(resource.fields[kinds[resource.kind].credential!.field]).toLowerCase() === actor.publicKey.toLowerCase()
}

/** The user that the proxy acts as: told with the proxy where that was read, otherwise known by the names that enabling gives. */
export function authProxyUser({ resources }: Pick<Actual, 'resources'>): string | undefined {
  const told = resources.find(({ kind }) => kind === 'authProxy')?.known?.userId
  if (told !== undefined) return told
  const users = resources.filter(({ kind, name }) => kind === 'user' && name === AUTH_PROXY_NAMES.user)
  const hasKey = (id: string | undefined) =>
    resources.some((one) => one.kind === 'apiKey' && one.parentId === id && one.name === AUTH_PROXY_NAMES.key)
  return users.find(({ id }) => hasKey(id))?.id
}

/** Whether this is the policy that allows the proxy's user what it does. */
export function isAuthProxyPolicy({ kind, name, fields }: Resource, userId: string): boolean {
  const { effect, consensus = null } = fields
  const isNamed = name === AUTH_PROXY_NAMES.policy || name === `${AUTH_PROXY_NAMES.policy} ${userId}`
  if (kind !== 'policy' || !isNamed || !String(effect).toUpperCase().endsWith('ALLOW')) return false
  return mentionsOf({ fields: { consensus } }).has(userId)
}
