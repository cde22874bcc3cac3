import type { QueryClient } from '../client/index.ts'
import { inside, nameOfSubOrganization } from '../live/index.ts'
import { fromTimestamp, type Wire } from '../protocol/index.ts'

/** An organization in which the key is registered; a user, and what else the user may log in with. */
export interface LocatedKey {
  readonly organization: { readonly id: string; readonly name: string }
  readonly user: { readonly id: string; readonly name: string }
  readonly key: { readonly id: string; readonly name: string; readonly publicKey: string; readonly createdAt: string }
  readonly others: readonly OtherCredential[]
  readonly quorum: { readonly threshold: number; readonly members: readonly QuorumMember[] }
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

/**
 * Finds where a public key is registered: in the organization of the client, and in those inside it. It asks for users and quorum
 * alone, three requests an organization, since containment waits for it. Throws `ClientError`.
 */
export async function locateKey(client: QueryClient, publicKey: string): Promise<readonly LocatedKey[]> {
  const ids = [client.organizationId, ...(await subOrganizationsWith(client, publicKey))]
  const found: LocatedKey[] = []
  for (const id of ids) {
    const there = id === client.organizationId ? client : inside(client, id)
    const { users } = await there.query('list_users', {})
    const owners = users.filter((user) => user.apiKeys.some((one) => isKey(one, publicKey)))
    if (owners.length === 0) continue
    const organizationName =
      id === client.organizationId
        ? (await client.query('whoami', {})).organizationName
        : ((await nameOfSubOrganization(client, id)) ?? id)
    const { configs } = await there.query('get_organization_configs', {})
    found.push(...owners.map((user) => exposureOf(user, { id, organizationName, users, configs, publicKey })))
  }
  return found
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
  const memberIds = of.configs.quorum?.userIds ?? []
  return {
    organization: { id: of.id, name: of.organizationName },
    user: { id: user.userId, name: user.userName },
    key: { id: key.apiKeyId, name: key.apiKeyName, publicKey: of.publicKey, createdAt: timeOf(key.createdAt) },
    others: credentialsOf(user).filter(({ id }) => id !== key.apiKeyId),
    quorum: {
      threshold: of.configs.quorum?.threshold ?? 1,
      members: memberIds.map((id) => {
        const member = of.users.find(({ userId }) => userId === id)
        return { id, name: member?.userName ?? id, credentials: member ? credentialsOf(member).length : 0 }
      }),
    },
  }
}

function credentialsOf({ apiKeys, authenticators, oauthProviders }: Wire.User): readonly OtherCredential[] {
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
