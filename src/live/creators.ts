import type { QueryClient, RequestOptions } from '../client/index.ts'
import { type ActivityType, activities, type QueryTypes } from '../protocol/index.ts'
import {
  type Actual,
  type KindName,
  type Resource,
  recordsOf,
  takeList,
  takeOptionalList,
  takeRecord,
  takeText,
  takeTexts,
  type WireRecord,
} from '../resources/index.ts'
import { readAnswer } from './error.ts'
import { PAGE_LIMIT, readPages } from './pages.ts'

/** Who submitted the activity that created a live thing. */
export interface Creator {
  readonly userId: string
  readonly userName: string
  /** The activity made its user, and it with that. */
  readonly cameWithUser?: true
}

/** Ids that are known already need no creator: what the lock holds was looked at when it was adopted. */
type Lock = Readonly<Record<string, Readonly<Record<string, { readonly id?: string }>>>>

/** Activities that create, by family, and where their results name what they made. */
interface Creating {
  readonly family: RegExp
  readonly ids: string
  readonly of?: string
}

/**
 * The activities that create things of each kind; none for what has no creator: an account comes with its wallet, and what has no id of
 * its own is nobody's. No other id in a result counts: the result of `create_user_tag` also lists users, who were there before.
 */
const CREATING: Readonly<Record<KindName, readonly Creating[]>> = {
  organization: [],
  rootQuorum: [],
  feature: [],
  ipAllowlist: [],
  tag: [{ family: /^ACTIVITY_TYPE_CREATE_USER_TAG$/, ids: 'userTagId' }],
  user: [
    { family: /^ACTIVITY_TYPE_CREATE_(API_ONLY_)?USERS(_V\d+)?$/, ids: 'userIds' },
    { family: /^ACTIVITY_TYPE_ENABLE_AUTH_PROXY$/, ids: 'userId' },
  ],
  apiKey: [{ family: /^ACTIVITY_TYPE_CREATE_API_KEYS(_V\d+)?$/, ids: 'apiKeyIds' }],
  apiKeyIpAllowlist: [],
  authenticator: [{ family: /^ACTIVITY_TYPE_CREATE_AUTHENTICATORS(_V\d+)?$/, ids: 'authenticatorIds' }],
  oauthProvider: [{ family: /^ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS(_V\d+)?$/, ids: 'providerIds' }],
  mfaPolicy: [{ family: /^ACTIVITY_TYPE_CREATE_MFA_POLICY$/, ids: 'mfaPolicyId' }],
  invitation: [{ family: /^ACTIVITY_TYPE_CREATE_INVITATIONS$/, ids: 'invitationIds' }],
  oauth2Credential: [{ family: /^ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL$/, ids: 'oauth2CredentialId' }],
  authProxy: [],
  policy: [
    { family: /^ACTIVITY_TYPE_CREATE_POLICY(_V\d+)?$/, ids: 'policyId' },
    { family: /^ACTIVITY_TYPE_CREATE_POLICIES$/, ids: 'policyIds' },
  ],
  privateKeyTag: [{ family: /^ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG$/, ids: 'privateKeyTagId' }],
  privateKey: [
    { family: /^ACTIVITY_TYPE_CREATE_PRIVATE_KEYS$/, ids: 'privateKeyIds' },
    { family: /^ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2$/, ids: 'privateKeyId', of: 'privateKeys' },
    { family: /^ACTIVITY_TYPE_IMPORT_PRIVATE_KEY$/, ids: 'privateKeyId' },
  ],
  wallet: [{ family: /^ACTIVITY_TYPE_(CREATE|IMPORT)_WALLET$/, ids: 'walletId' }],
  walletAccount: [],
  smartContractInterface: [
    { family: /^ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE$/, ids: 'smartContractInterfaceId' },
  ],
  webhook: [{ family: /^ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT$/, ids: 'endpointId' }],
  subOrganization: [{ family: /^ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION(_V\d+)?$/, ids: 'subOrganizationId' }],
}
const ALL_CREATING = Object.values(CREATING).flat()

/**
 * Finds who created the users, tags, policies and wallets of an organization that the lock does not hold, by walking its
 * completed creating activities, newest first, until all are found or none is left. The creator is the activity's first
 * voter: submitting is the first approval (docs/protocol/activities.md#votes). What an activity list does not show (the
 * first root user) has no entry, or with `founder` that user: in a sub-organization, the user who created it. Throws
 * `LiveError` and `ClientError`.
 */
export async function creatorsOf(
  client: QueryClient,
  actual: Actual,
  lock: Lock,
  { founder, ...options }: { readonly founder?: Creator } & RequestOptions = {},
): Promise<ReadonlyMap<string, Creator>> {
  const rows = Object.hasOwn(lock, actual.organizationId) ? lock[actual.organizationId]! : {}
  const locked = new Set(Object.values(rows).map(({ id }) => id))
  const wanted = new Set(
    actual.resources.flatMap(({ kind, id }) =>
      id !== undefined && CREATING[kind].length > 0 && !locked.has(id) ? [id] : [],
    ),
  )
  const childrenOf = Map.groupBy(
    actual.resources.filter(({ kind }) => Object.hasOwn(CREDENTIALS, kind)),
    ({ parentId }) => parentId,
  )
  const creators = new Map<string, Creator>()
  if (wanted.size === 0) return creators
  const pages = readPages({
    query: 'list_activities',
    list: 'activities',
    id: 'id',
    mayBeShort: true,
    // Activities come newest first, so the next page is what came before the last one read.
    ask: (before) => client.query('list_activities', request(before), options),
  })
  for await (const page of pages) {
    for (const record of page) {
      for (const [id, creator] of readAnswer('list_activities', () => readCreated(record))) {
        if (wanted.delete(id)) creators.set(id, creator)
        // Keys that were added later are in the results of newer activities.
        for (const child of childrenOf.get(id) ?? []) {
          if (wanted.has(child.id!) && readAnswer('list_activities', () => cameWith(record, id, child))) {
            wanted.delete(child.id!)
            creators.set(child.id!, { ...creator, cameWithUser: true })
          }
        }
      }
    }
    if (wanted.size === 0) break
  }
  // No activity in a sub-organization tells of what came with its creation.
  if (founder) for (const id of wanted) creators.set(id, founder)
  return creators
}

function request(before: string | undefined): Omit<QueryTypes['list_activities']['request'], 'organizationId'> {
  return {
    filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
    filterByType: (Object.keys(activities) as ActivityType[]).filter(rowOf),
    paginationOptions: { limit: String(PAGE_LIMIT), ...(before === undefined ? {} : { before }) },
  }
}

/** The ids that one activity made, with the user who submitted it. */
function readCreated(activity: WireRecord): readonly [string, Creator][] {
  const votes = takeList(activity, 'votes', 'activity').map((vote) => takeRecord(vote, 'a vote'))
  const first = votes.filter(({ selection }) => selection === 'VOTE_SELECTION_APPROVED').sort(byTime)[0]
  if (!first) return []
  const creator = {
    userId: takeText(first, 'userId', 'vote'),
    userName: takeText(takeRecord(first['user'], '`user` of a vote'), 'userName', 'user'),
  }
  return readMade(activity).map((id) => [id, creator])
}

/**
 * Reads the ids that a completed activity has made: none for one that creates nothing. A name in the result that somebody chose is no
 * id, whatever it says. Throws `LiveError` for a result that is not of its type.
 */
export function idsMadeBy(activity: object): readonly string[] {
  return readAnswer('list_activities', () => readMade({ ...activity }))
}

function readMade(activity: WireRecord): readonly string[] {
  const row = rowOf(takeText(activity, 'type', 'activity'))
  if (!row) return []
  const result = takeRecord(activity['result'], '`result` of an activity')
  const made = Object.entries(result).find(([key]) => /Result(V\d+)?$/.test(key))?.[1]
  const results = takeRecord(made, 'the result of an activity')
  const parts = row.of === undefined ? [results] : recordsOf(results, row.of)
  return parts.flatMap((part) => idsIn(part, row.ids))
}

/** The credentials that an activity which creates users may give them, each told by what no other of the user has. */
const CREDENTIALS: Readonly<
  Partial<Record<KindName, { readonly list: string; readonly is: (record: WireRecord, one: Resource) => boolean }>>
> = {
  apiKey: {
    list: 'apiKeys',
    is: ({ publicKey }, { fields }) => String(publicKey).toLowerCase() === fields['publicKey'],
  },
  authenticator: { list: 'authenticators', is: ({ authenticatorName }, { name }) => authenticatorName === name },
  oauthProvider: { list: 'oauthProviders', is: ({ providerName }, { name }) => providerName === name },
}

/** Whether the activity that made this user gave them this credential: results name the users alone, the intent has the rest. */
function cameWith(activity: WireRecord, userId: string, one: Resource): boolean {
  const row = rowOf(takeText(activity, 'type', 'activity'))
  if (row?.ids !== 'userIds') return false
  const [intent] = Object.values(takeRecord(activity['intent'], '`intent` of an activity'))
  const { users, apiOnlyUsers } = takeRecord(intent, 'the intent of an activity')
  const given = takeList({ users: users ?? apiOnlyUsers }, 'users', 'intent')[readMade(activity).indexOf(userId)]
  const { list, is } = CREDENTIALS[one.kind]!
  const records = takeOptionalList(takeRecord(given, 'a user of an intent'), list, 'user') ?? []
  return records.some((record) => is(takeRecord(record, 'a credential of an intent'), one))
}

function rowOf(type: string): Creating | undefined {
  return ALL_CREATING.find(({ family }) => family.test(type))
}

function idsIn(result: WireRecord, member: string): readonly string[] {
  return member.endsWith('Ids') ? takeTexts(result, member, 'result') : [takeText(result, member, 'result')]
}

function byTime(a: WireRecord, b: WireRecord): number {
  return seconds(a) - seconds(b)
}

function seconds({ createdAt }: WireRecord): number {
  const time = takeRecord(createdAt, '`createdAt` of a vote')
  return Number(time['seconds']) + Number(time['nanos'] ?? 0) / 1e9
}
