import type { QueryClient } from '../client/index.ts'
import { inside, nameOfSubOrganization } from '../live/index.ts'
import { fromTimestamp, type Wire } from '../protocol/index.ts'

/** A user of an organization, and what the user may log in with. */
export interface LocatedUser {
  readonly organization: { readonly id: string; readonly name: string }
  readonly user: { readonly id: string; readonly name: string }
  /** The key that leaked. Without one, and without one that is gone, whatever the user may log in with has. */
  readonly key?: { readonly id: string; readonly name: string; readonly publicKey: string; readonly createdAt: string }
  /** The key that leaked, which is registered no more. */
  readonly gone?: { readonly publicKey: string }
  /** Every other credential. */
  readonly others: readonly OtherCredential[]
  readonly quorum: { readonly threshold: number; readonly members: readonly QuorumMember[] }
}

/** An organization in which a key is registered, for a user. */
export interface LocatedKey extends LocatedUser {
  readonly key: NonNullable<LocatedUser['key']>
}

/** An organization in which a key was registered, for a user, and is no more. */
export interface GoneKey extends LocatedUser {
  readonly gone: NonNullable<LocatedUser['gone']>
}

export interface QuorumMember {
  readonly id: string
  readonly name: string
  /** How many credentials the member has. */
  readonly credentials: number
}

export interface OtherCredential {
  readonly kind: 'apiKey' | 'authenticator' | 'oauthProvider'
  readonly id: string
  readonly name: string
  /** Of API keys and passkeys, as activities tell it of votes. */
  readonly publicKey?: string
  /** ISO 8601. */
  readonly createdAt: string
}

/** Pages of sub-organizations end here. */
const PAGE = 100
/** How many organizations are worked in at once: with answers after a quarter of a second, 64 requests a second. */
const AT_ONCE = 16

/** An organization inside in which one of the keys is registered, as the list of organizations by key has it. */
export interface KeyInside {
  readonly organizationId: string
  readonly publicKey: string
  /** It is registered there no more, or never was. */
  readonly isGone?: true
}

/**
 * Finds for whom a public key is registered in the organization of the client, or in one inside it. It asks for users and quorum
 * alone, three requests where it is there, since containment waits for it. Throws `ClientError`.
 */
export async function locateKey(
  client: QueryClient,
  { organizationId: id, publicKey }: KeyInside,
): Promise<readonly LocatedKey[]> {
  const there = id === client.organizationId ? client : inside(client, id)
  const { users } = await there.query('list_users', {})
  const owners = users.filter((user) => user.apiKeys.some((one) => isKey(one, publicKey)))
  if (owners.length === 0) return []
  const organizationName = await organizationNameOf(client, id)
  const { configs } = await there.query('get_organization_configs', {})
  return owners.map((user) => exposureOf(user, { id, organizationName, users, configs, publicKey }))
}

/** The name of the organization of the client, or of one inside it; its id where that one has gone. Throws `ClientError`. */
export async function organizationNameOf(client: QueryClient, id: string): Promise<string> {
  if (id === client.organizationId) return (await client.query('whoami', {})).organizationName
  return (await nameOfSubOrganization(client, id)) ?? id
}

/** Lists the organizations inside in which keys are registered: a request for a hundred of them. Throws `ClientError`. */
export async function listKeysInside(
  client: QueryClient,
  publicKeys: readonly string[],
): Promise<readonly KeyInside[]> {
  const found: KeyInside[] = []
  for (const publicKey of new Set(publicKeys))
    for (const organizationId of await subOrganizationsWith(client, publicKey))
      if (organizationId !== client.organizationId) found.push({ organizationId, publicKey })
  return found
}

/** Finds a user of the organization by id or name. Undefined: there is none, or several have the name. Throws `ClientError`. */
export async function locateUser(client: QueryClient, named: string): Promise<LocatedUser | undefined> {
  const { users } = await client.query('list_users', {})
  const byId = users.filter(({ userId }) => userId === named)
  const owners = byId.length > 0 ? byId : users.filter(({ userName }) => userName === named)
  const [owner] = owners
  if (!owner || owners.length > 1) return undefined
  const { organizationName } = await client.query('whoami', {})
  const { configs } = await client.query('get_organization_configs', {})
  return {
    organization: { id: client.organizationId, name: organizationName },
    user: { id: owner.userId, name: owner.userName },
    others: credentialsOf(owner),
    quorum: quorumOf(configs, users),
  }
}

/** Where the key is registered still, or the user has a credential: the ids among these. One request an organization. */
export async function stillIn(client: QueryClient, located: readonly LocatedUser[]): Promise<readonly LocatedUser[]> {
  const left = await inEach(located, async (one) => {
    const { id } = one.organization
    const { users } = await (id === client.organizationId ? client : inside(client, id)).query('list_users', {})
    const { key, gone } = one
    if (gone) return []
    if (key) return users.some((user) => user.apiKeys.some((each) => isKey(each, key.publicKey))) ? [one] : []
    const user = users.find(({ userId }) => userId === one.user.id)
    return user && credentialsOf(user).length > 0 ? [one] : []
  })
  return left.flat()
}

/** Works in several organizations at once, and gives the results in their order. The first that throws ends it. */
export async function inEach<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results = new Map<number, R>()
  const waiting = items.entries()
  const one = async () => {
    for (const [index, item] of waiting) results.set(index, await work(item))
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, one))
  return items.map((_, index) => results.get(index)!)
}

async function subOrganizationsWith(client: QueryClient, publicKey: string): Promise<readonly string[]> {
  const ids = new Set<string>()
  for (let before: string | undefined, size = -1; ids.size !== size; ) {
    size = ids.size
    const paginationOptions = { limit: String(PAGE), ...(before === undefined ? {} : { before }) }
    const asked = { filterType: 'PUBLIC_KEY', filterValue: publicKey, paginationOptions }
    const { organizationIds } = await client.query('list_suborgs', asked)
    for (const id of organizationIds) ids.add(id)
    before = organizationIds.at(-1)
    if (organizationIds.length < PAGE) break
  }
  return [...ids]
}

const isKey = ({ credential }: Wire.ApiKey, publicKey: string) =>
  credential.publicKey.toLowerCase() === publicKey.toLowerCase()

function exposureOf(
  user: Wire.User,
  of: {
    readonly id: string
    readonly organizationName: string
    readonly users: readonly Wire.User[]
    readonly configs: Wire.Config
    readonly publicKey: string
  },
): LocatedKey {
  const key = user.apiKeys.find((one) => isKey(one, of.publicKey))!
  return {
    organization: { id: of.id, name: of.organizationName },
    user: { id: user.userId, name: user.userName },
    key: { id: key.apiKeyId, name: key.apiKeyName, publicKey: of.publicKey, createdAt: timeOf(key.createdAt) },
    others: credentialsOf(user).filter(({ id }) => id !== key.apiKeyId),
    quorum: quorumOf(of.configs, of.users),
  }
}

export function quorumOf({ quorum }: Wire.Config, users: readonly Wire.User[]): LocatedUser['quorum'] {
  return {
    threshold: quorum?.threshold ?? 1,
    members: (quorum?.userIds ?? []).map((id) => {
      const member = users.find(({ userId }) => userId === id)
      return { id, name: member?.userName ?? id, credentials: member ? credentialsOf(member).length : 0 }
    }),
  }
}

/** What a user may log in with. */
export function credentialsOf({ apiKeys, authenticators, oauthProviders }: Wire.User): readonly OtherCredential[] {
  return [
    ...apiKeys.map(
      ({ apiKeyId, apiKeyName, credential, createdAt }): OtherCredential => ({
        kind: 'apiKey',
        id: apiKeyId,
        name: apiKeyName,
        publicKey: credential.publicKey.toLowerCase(),
        createdAt: timeOf(createdAt),
      }),
    ),
    ...authenticators.map(
      ({ authenticatorId, authenticatorName, credential, createdAt }): OtherCredential => ({
        kind: 'authenticator',
        id: authenticatorId,
        name: authenticatorName,
        publicKey: credential.publicKey.toLowerCase(),
        createdAt: timeOf(createdAt),
      }),
    ),
    ...oauthProviders.map(
      ({ providerId, providerName, createdAt }): OtherCredential => ({
        kind: 'oauthProvider',
        id: providerId,
        name: providerName,
        createdAt: timeOf(createdAt),
      }),
    ),
  ]
}

const timeOf = (at: Wire.Timestamp) => new Date(fromTimestamp(at)).toISOString()
