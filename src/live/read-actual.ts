import type { QueryClient, RequestOptions } from '../client/index.ts'
import {
  type Actual,
  type Address,
  apiKeyFromWire,
  authenticatorFromWire,
  type Desired,
  featureFromWire,
  type KindName,
  mfaPolicyFromWire,
  oauthProviderFromWire,
  organizationFromWire,
  parseAddress,
  policyFromWire,
  type Resource,
  recordsOf as records,
  rootQuorumFromWire,
  tagFromWire,
  takeRecord,
  takeText,
  userFromWire,
  type WireRecord,
  walletAccountFromWire,
  walletFromWire,
} from '../resources/index.ts'
import { checkConsistent } from './consistent.ts'
import { LiveError, readAnswer } from './error.ts'
import { type ReadScope, readOptionalKinds } from './optional-kinds.ts'
import { inside, readSubOrganizations } from './sub-organizations.ts'
import { readWalletAccounts } from './wallet-accounts.ts'

/**
 * Reads an organization: all or nothing. A request that fails, an answer of the wrong shape, a page that repeats or lists
 * that contradict each other throw; a part of an organization must never pass for all of it. Requests go one after
 * another, so that the rate limit of the smallest plan is not used up at once. Throws `LiveError` and `ClientError`.
 */
export async function readActual(client: QueryClient, options: ReadScope & RequestOptions = {}): Promise<Actual> {
  const whoami = readAnswer('whoami', asRecord(await client.query('whoami', {}, options)))
  const organization = readAnswer('whoami', () => organizationFromWire(whoami))
  if (organization.id !== client.organizationId) {
    throw new LiveError(
      'live/other-organization',
      'the credential belongs to another organization than the one to read',
      {
        facts: { asked: client.organizationId, answered: organization.id },
        next: 'use a credential of the organization itself, or correct its id',
      },
    )
  }
  const { resources, unread } = await readResources(client, organization, options)
  return {
    organizationId: client.organizationId,
    organizationName: String(organization.fields['name']),
    resources,
    unread,
    actor: readAnswer('whoami', () => ({
      userId: takeText(whoami, 'userId', 'caller'),
      userName: takeText(whoami, 'username', 'caller'),
      publicKey: client.publicKey,
    })),
  }
}

/**
 * Reads a sub-organization with a client of its parent, whose user may read it and nothing else. The actor is the user inside
 * who has the key given with `publicKey`; without one, the reader.
 */
export async function readInside(
  parent: QueryClient,
  { id, name }: { readonly id: string; readonly name: string },
  {
    publicKey,
    reader,
    ...options
  }: { readonly publicKey: string; readonly reader: Actual['actor'] } & ReadScope & RequestOptions,
): Promise<Actual> {
  const organization: Resource = {
    address: 'organization',
    kind: 'organization',
    name: 'organization',
    id,
    fields: { name },
  }
  const { resources, unread } = await readResources(inside(parent, id), organization, options)
  const actor = actorIn(resources, publicKey) ?? reader
  return { organizationId: id, organizationName: name, resources, unread, actor }
}

/** The user who has an API key; undefined when nobody has. */
export function actorIn(resources: readonly Resource[], publicKey: string): Actual['actor'] | undefined {
  const key = resources.find(
    ({ kind, fields }) => kind === 'apiKey' && String(fields['publicKey']).toLowerCase() === publicKey.toLowerCase(),
  )
  const user = resources.find(({ kind, id }) => kind === 'user' && key && id === key.parentId)
  return user && { userId: user.id!, userName: user.name, publicKey }
}

/** Reads everything in an organization; its own resource is given and comes first. */
async function readResources(
  client: QueryClient,
  organization: Resource,
  options: ReadScope & RequestOptions,
): Promise<{ readonly resources: readonly Resource[]; readonly unread: readonly KindName[] }> {
  const resources: Resource[] = [organization]
  const unread: KindName[] = []
  const { mentioned, sparing, subOrganizations } = options
  const configs = await client.query('get_organization_configs', {}, options)
  resources.push(...readAnswer('get_organization_configs', () => readConfigs(configs)))
  const tags = await client.query('list_user_tags', {}, options)
  resources.push(...readAnswer('list_user_tags', () => records(tags, 'userTags').filter(isUserTag).map(tagFromWire)))
  const users = await client.query('list_users', {}, options)
  resources.push(...readAnswer('list_users', () => records(users, 'users').flatMap(readUser)))
  const policies = await client.query('list_policies', {}, options)
  resources.push(...readAnswer('list_policies', () => records(policies, 'policies').map(policyFromWire)))
  if (sparing && !mentioned?.has('wallet')) unread.push('wallet', 'walletAccount')
  else {
    const wallets = await client.query('list_wallets', {}, options)
    for (const wallet of readAnswer('list_wallets', () => records(wallets, 'wallets').map(walletFromWire))) {
      resources.push(wallet, ...(await readAccounts(client, wallet, options)))
    }
  }
  const optional = await readOptionalKinds(client, resources, options)
  resources.push(...optional.resources)
  unread.push(...optional.unread)
  if (subOrganizations) resources.push(...(await readSubOrganizations(client, subOrganizations, options)))
  else if (!mentioned?.has('subOrganization')) unread.push('subOrganization')
  checkConsistent(resources, unread)
  return { resources, unread }
}

/**
 * The kinds that definitions mention, and those of the lock's rows that they no longer mention: `mentioned` for reading
 * what they are compared with.
 */
export function kindsMentioned(
  { resources, manageAll }: Pick<Desired, 'resources' | 'manageAll'>,
  rows: Readonly<Record<Address, unknown>> = {},
): ReadonlySet<KindName> {
  const locked = Object.keys(rows).flatMap((address) => parseAddress(address)?.kind ?? [])
  return new Set([...resources.map(({ kind }) => kind), ...manageAll, ...locked])
}

function asRecord(answer: unknown): () => WireRecord {
  return () => takeRecord(answer, 'the answer')
}

/** Private keys have tags of their own kind, in a list of their own. */
function isUserTag(record: WireRecord): boolean {
  return record['tagType'] !== 'TAG_TYPE_PRIVATE_KEY'
}

function readConfigs(answer: unknown): readonly Resource[] {
  const configs = takeRecord(takeRecord(answer, 'the answer')['configs'], '`configs`')
  return [
    rootQuorumFromWire(takeRecord(configs['quorum'], '`quorum`')),
    // An organization without features may answer without the list (`features?`).
    ...(configs['features'] === undefined || configs['features'] === null
      ? []
      : records(configs, 'features').map(featureFromWire)),
  ]
}

function readUser(record: WireRecord): readonly Resource[] {
  const user = userFromWire(record)
  return [
    user,
    ...records(record, 'apiKeys').flatMap((key) => apiKeyFromWire(key, user) ?? []),
    ...records(record, 'authenticators').map((one) => authenticatorFromWire(one, user)),
    ...records(record, 'oauthProviders').map((one) => oauthProviderFromWire(one, user)),
    ...records(record, 'mfaPolicies').map((one) => mfaPolicyFromWire(one, user)),
  ]
}

async function readAccounts(
  client: QueryClient,
  wallet: Resource,
  options: RequestOptions,
): Promise<readonly Resource[]> {
  const accounts: Resource[] = []
  for await (const page of readWalletAccounts(client, wallet.id!, options)) {
    accounts.push(...readAnswer('list_wallet_accounts', () => page.map((record) => readAccount(record, wallet))))
  }
  return accounts
}

function readAccount(record: WireRecord, wallet: Resource): Resource {
  const walletId = takeText(record, 'walletId', 'wallet account')
  if (walletId !== wallet.id) {
    throw new LiveError(
      'live/malformed-answer',
      'the answer to `list_wallet_accounts` holds an account of another wallet',
      {
        facts: { asked: wallet.id, answered: walletId },
      },
    )
  }
  return walletAccountFromWire(record, wallet)
}
