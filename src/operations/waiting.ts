import { ClientError, type QueryClient, type SubmitClient } from '../client/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { makeBody, shortCode } from '../plan/index.ts'
import {
  type ActivityType,
  activities,
  fromTimestamp,
  isWaiting,
  WAITING_STATUSES,
  type Wire,
} from '../protocol/index.ts'
import type { Actual } from '../resources/index.ts'

const STATUSES = {
  waiting: WAITING_STATUSES,
  completed: ['ACTIVITY_STATUS_COMPLETED'],
} as const
const PAGE = 100

/** Which activities are listed. */
export interface ActivityFilter {
  readonly limit: number
  /** @default every status */
  readonly which?: 'waiting' | 'completed'
  /** @default every type */
  readonly types?: readonly ActivityType[]
  /** Submitted then or later. @default however old */
  readonly sinceMs?: number
}

/** Lists activities, newest first, page by page. */
export async function listActivities(
  client: QueryClient,
  { limit, which, types = [], sinceMs = 0 }: ActivityFilter,
): Promise<readonly Wire.Activity[]> {
  const found: Wire.Activity[] = []
  const isWanted = ({ createdAt }: Wire.Activity) => fromTimestamp(createdAt) >= sinceMs
  while (found.length < limit) {
    const last = found.at(-1)
    const { activities: page } = await client.query('list_activities', {
      filterByStatus: which === undefined ? [] : [...STATUSES[which]],
      filterByType: [...types],
      paginationOptions: { limit: String(Math.min(PAGE, limit - found.length)), ...(last ? { before: last.id } : {}) },
    })
    found.push(...page)
    if (page.length === 0 || !isWanted(page.at(-1)!)) break
  }
  return found.filter(isWanted)
}

/** Of what waits more is not read: nobody looks through so many. */
export const MOST_WAITING = 1_000

/** What waits for approval, oldest first; of more than `MOST_WAITING` the newest. */
export async function listWaiting(client: QueryClient): Promise<readonly Wire.Activity[]> {
  return (await listActivities(client, { which: 'waiting', limit: MOST_WAITING })).toReversed()
}

/** Of all activities on record more are not read. */
const MOST_RECORDED = 20_000

/** The activities on record, newest first, and what is not known where there are more than are read. */
export async function listRecorded(
  client: QueryClient,
  { sinceMs = 0 }: Pick<ActivityFilter, 'sinceMs'> = {},
): Promise<{ readonly activities: readonly Wire.Activity[]; readonly cut?: string }> {
  const activities = await listActivities(client, { limit: MOST_RECORDED, sinceMs })
  return activities.length < MOST_RECORDED
    ? { activities }
    : { activities, cut: `only the newest ${MOST_RECORDED} activities were read` }
}

/** How many activities of any status are looked through for one that has ended and is named by its short code. */
const MOST_ENDED = 2_000

/**
 * Finds the activity that a person named by id, by fingerprint, or by the short code of a waiting one or of one that has ended lately.
 * A code that another of the newest has as well names none.
 */
export async function findActivity(client: QueryClient, named: string): Promise<Wire.Activity> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(named)) {
    return await byId(client, named.toLowerCase())
  }
  const isNamed = ({ fingerprint }: Wire.Activity) =>
    fingerprint === named || shortCode(fingerprint) === named.toLowerCase()
  const isCode = !named.startsWith('sha256:')
  const open = await listActivities(client, { ...(isCode ? { which: 'waiting' } : {}), limit: 10_000 })
  const waiting = open.filter(isNamed)
  // A requester can look for two requests with one code, and let the one that was read out end before the other is voted on.
  const limit = waiting.length === 0 ? MOST_ENDED : PAGE
  const recent = isCode ? (await listActivities(client, { limit })).filter(isNamed) : []
  const matches = [...new Map([...recent, ...waiting].map((one) => [one.id, one])).values()]
  if (matches.length === 1) return matches[0]!
  if (matches.length === 0)
    throw noActivity(client, `called \`${named}\` that waits${isCode ? ` or is among the newest ${MOST_ENDED}` : ''}`)
  throw new QuorateError('cli/no-activity', `${matches.length} activities are called \`${named}\``, {
    facts: { ...placeOf(client), activities: matches.map(({ id, status }) => `${id} ${status}`).join(', ') },
    next: isCode
      ? 'equal codes hardly come about by chance: look at each by its id, and ask the user who requested them; vote by the id of the one that you mean'
      : 'give the id of the one that you mean',
  })
}

async function byId(client: QueryClient, activityId: string): Promise<Wire.Activity> {
  try {
    return (await client.query('get_activity', { activityId })).activity
  } catch (cause) {
    if (!(cause instanceof ClientError) || cause.code !== 'client/not-found') throw cause
    throw noActivity(client, `with the id \`${activityId}\``, cause)
  }
}

/** An activity of another organization or service is not found either: what was asked is said. */
function noActivity(client: QueryClient, named: string, cause?: unknown): QuorateError {
  return new QuorateError('cli/no-activity', `there is no activity ${named}`, {
    facts: placeOf(client),
    next: 'list what waits with `quorate activities --waiting --all`; for another organization or service, set --organization-id or --base-url',
    ...(cause === undefined ? {} : { cause }),
  })
}

const placeOf = ({ organizationId, baseUrl }: QueryClient) => ({ organization: organizationId, at: baseUrl })

/** What is known of the further factors of those who have voted; asked only where one of them has an MFA policy. */
export async function readFactors(
  client: QueryClient,
  { id, votes }: Pick<Wire.Activity, 'id' | 'votes'>,
  { resources }: Pick<Actual, 'resources'>,
): Promise<readonly Wire.MfaStatus[]> {
  const asked = new Set(resources.flatMap(({ kind, parentId }) => (kind === 'mfaPolicy' ? [parentId] : [])))
  if (!votes.some(({ userId }) => asked.has(userId))) return []
  return (await client.query('get_mfa_status', { activityId: id })).mfaStatuses
}

/** Whether an activity has ended as a vote wanted it to, or may still. */
export function isAsVoted(status: string, vote: 'approve' | 'reject'): boolean {
  return isWaiting(status) || (status === 'ACTIVITY_STATUS_COMPLETED') === (vote === 'approve')
}

/** Casts the acting user's vote on an activity, by its fingerprint; answers with the activity as it then is. */
export async function castVote(
  client: SubmitClient,
  fingerprint: string,
  { vote, now, signal }: { readonly vote: 'approve' | 'reject'; readonly now: number; readonly signal?: AbortSignal },
): Promise<Wire.Activity> {
  const row = activities[vote === 'approve' ? 'ACTIVITY_TYPE_APPROVE_ACTIVITY' : 'ACTIVITY_TYPE_REJECT_ACTIVITY']
  const body = makeBody({
    type: row.type,
    organizationId: client.organizationId,
    parameters: { fingerprint },
    timestampMs: String(now),
  })
  return client.submit(row.path, body, signal ? { signal } : {})
}

/** Whether a vote that failed may have been cast all the same: it was sent, and nobody knows what became of it. */
export function mayBeCast(error: unknown): boolean {
  return error instanceof ClientError ? error.submitted !== 'no' : !(error instanceof QuorateError)
}
