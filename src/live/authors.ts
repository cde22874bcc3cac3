/**
 * Who changed what lives: found in the completed activities of the organization, newest first. An activity is of a thing when its
 * type is one that changes things of that kind and its intent or result names the thing's id.
 */
import type { QueryClient, RequestOptions } from '../client/index.ts'
import { type ActivityType, activities } from '../protocol/index.ts'
import { type KindName, kinds, takeList, takeRecord, takeText, type WireRecord } from '../resources/index.ts'
import { readAnswer } from './error.ts'
import { PAGE_LIMIT, readPages } from './pages.ts'

/** Pages of activities that are read at most; an organization may have any number of them. */
const MOST_PAGES = 20

/** Something live that is not as it was left, or was deleted. */
export interface Changed {
  readonly kind: KindName
  /** Its id; of a credential also its user's, with whom it goes. Kinds of which there is one need none. */
  readonly ids: readonly string[]
}

/** A vote as an activity tells of it. */
export interface CastVote {
  readonly userName: string
  /** The credential that cast it. */
  readonly publicKey: string
  /** ISO 8601. */
  readonly at: string
}

/** The activity that changed something last, and whose it was. */
export interface Author {
  readonly activityId: string
  readonly type: string
  /** Who submitted it: submitting is the first approval (docs/protocol/activities.md#votes). */
  readonly by: CastVote
  /** Those who approved it after that. */
  readonly approvedBy: readonly CastVote[]
}

/** The activities that change things of a kind, by their types without `ACTIVITY_TYPE_` and version, where their names say less. */
const CHANGING: Readonly<Partial<Record<KindName, RegExp>>> = {
  organization: /^UPDATE_ORGANIZATION_NAME$/,
  rootQuorum: /^UPDATE_ROOT_QUORUM$/,
  feature: /^(SET|REMOVE)_ORGANIZATION_FEATURE$/,
  ipAllowlist: /^(SET|REMOVE)_IP_ALLOWLIST$/,
  tag: /^(CREATE_USER_TAG|UPDATE_USER_TAG|DELETE_USER_TAGS)$/,
  user: /^(CREATE_(API_ONLY_)?USERS|DELETE_USERS|UPDATE_USER(_NAME|_EMAIL|_PHONE_NUMBER|_TAG)?|(CREATE_USER_TAG|ENABLE_AUTH_PROXY))$/,
  apiKey: /^(CREATE_API_KEYS|DELETE_API_KEYS|DELETE_USERS)$/,
  apiKeyIpAllowlist: /^(SET|REMOVE)_IP_ALLOWLIST$/,
  authenticator: /^(CREATE_AUTHENTICATORS|DELETE_AUTHENTICATORS|DELETE_USERS|RECOVER_USER)$/,
  oauthProvider: /^(CREATE_OAUTH_PROVIDERS|DELETE_OAUTH_PROVIDERS|DELETE_USERS)$/,
  mfaPolicy: /^(CREATE|UPDATE|DELETE)_MFA_POLICY$|^DELETE_USERS$/,
  invitation: /^(CREATE_INVITATIONS|DELETE_INVITATION|ACCEPT_INVITATION)$/,
  authProxy: /^((ENABLE|DISABLE)_AUTH_PROXY|UPDATE_AUTH_PROXY_CONFIG|UPDATE_ALLOWED_ORIGINS)$/,
  policy: /^(CREATE|UPDATE|DELETE)_POLIC(Y|IES)$/,
  privateKeyTag: /^(CREATE|UPDATE|DELETE)_PRIVATE_KEY_TAGS?$/,
  privateKey:
    /^(CREATE_PRIVATE_KEYS|IMPORT_PRIVATE_KEY|DELETE_PRIVATE_KEYS|DISABLE_PRIVATE_KEY|UPDATE_PRIVATE_KEY_TAG)$/,
  wallet: /^(CREATE|IMPORT|UPDATE|DELETE)_WALLETS?$/,
  walletAccount: /^(CREATE_WALLET_ACCOUNTS|DELETE_WALLET_ACCOUNTS|UPDATE_WALLET_ACCOUNT_NAME|DELETE_WALLETS)$/,
  smartContractInterface: /^(CREATE|DELETE)_SMART_CONTRACT_INTERFACE$/,
  webhook: /^(CREATE|UPDATE|DELETE)_WEBHOOK_ENDPOINT$/,
  subOrganization: /^(CREATE|DELETE)_SUB_ORGANIZATION$/,
}

/** The types of activities that change anything that definitions speak of. */
export const CHANGING_TYPES: readonly ActivityType[] = (Object.keys(activities) as ActivityType[]).filter((type) =>
  Object.keys(kinds).some((kind) => changes(kind as KindName, type)),
)

/** Kinds of which an organization has one: the type of an activity says that it is of it. */
const ONE_OF: ReadonlySet<KindName> = new Set(['organization', 'rootQuorum', 'authProxy'])
const FEATURE = 'FEATURE_NAME_'

/**
 * Finds the newest completed activity that changed each of these, by the keys of the map. What none of the newest 2,000 such
 * activities changed has no entry. Throws `LiveError` and `ClientError`.
 */
export async function authorsOf(
  client: QueryClient,
  changed: ReadonlyMap<string, Changed>,
  options: RequestOptions = {},
): Promise<ReadonlyMap<string, Author>> {
  const found = new Map<string, Author>()
  const wanted = new Map(changed)
  if (wanted.size === 0) return found
  const wantedKinds = new Set([...changed.values()].map(({ kind }) => kind))
  const filterByType = (Object.keys(activities) as ActivityType[]).filter((type) =>
    [...wantedKinds].some((kind) => changes(kind, type)),
  )
  const pages = readPages({
    query: 'list_activities',
    list: 'activities',
    id: 'id',
    mayBeShort: true,
    ask: (before) =>
      client.query(
        'list_activities',
        {
          filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
          filterByType,
          paginationOptions: { limit: String(PAGE_LIMIT), ...(before === undefined ? {} : { before }) },
        },
        options,
      ),
  })
  let read = 0
  for await (const page of pages) {
    for (const record of page) {
      if (wanted.size === 0) return found
      for (const [key, author] of readAnswer('list_activities', () => authorOfAny(record, wanted))) {
        found.set(key, author)
        wanted.delete(key)
      }
    }
    if (wanted.size === 0 || ++read === MOST_PAGES) break
  }
  return found
}

function authorOfAny(activity: WireRecord, wanted: ReadonlyMap<string, Changed>): readonly [string, Author][] {
  const type = takeText(activity, 'type', 'activity')
  const named = textsIn([activity['intent'], activity['result']])
  const keys = [...wanted].filter(
    ([, { kind, ids }]) =>
      changes(kind, type) &&
      (ONE_OF.has(kind) || ids.some((id) => named.has(id) || (kind === 'feature' && named.has(`${FEATURE}${id}`)))),
  )
  if (keys.length === 0) return []
  const [by, ...approvedBy] = takeList(activity, 'votes', 'activity')
    .map((vote) => takeRecord(vote, 'a vote'))
    .filter(({ selection }) => selection === 'VOTE_SELECTION_APPROVED')
    .map(toBallot)
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  if (!by) return []
  const author: Author = { activityId: takeText(activity, 'id', 'activity'), type, by, approvedBy }
  return keys.map(([key]) => [key, author])
}

function toBallot(vote: WireRecord): CastVote {
  const time = takeRecord(vote['createdAt'], '`createdAt` of a vote')
  return {
    userName: takeText(takeRecord(vote['user'], '`user` of a vote'), 'userName', 'user'),
    publicKey: typeof vote['publicKey'] === 'string' ? vote['publicKey'] : '',
    at: new Date(Number(time['seconds']) * 1000 + Math.floor(Number(time['nanos'] ?? 0) / 1e6)).toISOString(),
  }
}

/** Every text in a value, at any depth. */
export function textsIn(value: unknown, into: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value === 'string') into.add(value)
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) textsIn(one, into)
  return into
}

/** An ordinary kind is created, updated and deleted by activities of its name. */
function changes(kind: KindName, type: string): boolean {
  const name = kind.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
  return (CHANGING[kind] ?? new RegExp(`^(CREATE|UPDATE|DELETE)_${name}$`)).test(familyOf(type))
}

function familyOf(type: string): string {
  return type.replace(/^ACTIVITY_TYPE_/, '').replace(/_V\d+$/, '')
}
