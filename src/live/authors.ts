/**
 * Who changed what lives: found in the completed activities of the organization, newest first. An activity is of a thing when it
 * is among those that change things of that kind (`changedBy`) and its intent or result names the thing's id.
 */
import type { QueryClient, RequestOptions } from '../client/index.ts'
import { type ActivityRow, type ActivityType, activities } from '../protocol/index.ts'
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

/** The types of activities that change anything that definitions speak of. */
export const CHANGING_TYPES: readonly ActivityType[] = (Object.keys(activities) as ActivityType[]).filter((type) =>
  Object.keys(kinds).some((kind) => changes(kind as KindName, type)),
)

/** Kinds of which an organization has one: the type of an activity says that it is of it. */
const ONE_OF: ReadonlySet<KindName> = new Set(['organization', 'rootQuorum', 'authProxy'])
const FEATURE = 'FEATURE_NAME_'

/**
 * Finds the newest completed activity that changed each of these, by the keys of the map. What none of the newest 2,000 such
 * activities changed has no entry. Activities whose ids `except` has as keys are passed over. Throws `LiveError` and `ClientError`.
 */
export async function authorsOf(
  client: QueryClient,
  changed: ReadonlyMap<string, Changed>,
  { except, ...options }: RequestOptions & { readonly except?: ReadonlyMap<string, unknown> } = {},
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
      if (except?.has(String(record['id']))) continue
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

function changes(kind: KindName, type: string): boolean {
  const row = activities[type as ActivityType] as ActivityRow | undefined
  return row !== undefined && kinds[kind].changedBy.includes(row.family)
}
