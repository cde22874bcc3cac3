import { ApiError, isWaiting, type JsonObject, toTimestamp } from '../../protocol/index.ts'
import { openText, type Sealing } from '../keys/index.ts'
import { listAppProofs } from '../proofs/index.ts'
import { toWireUser } from '../resources/users/wire.ts'
import { type ActivityRecordRow, listVotes, type Transaction, type VoteRow } from '../store/index.ts'
import type { ActivityDetails } from './activity-wire.ts'
import { countBallots, withHeldSubmitter } from './ballots.ts'
import type { Caller } from './caller.ts'
import type { Cases } from './cases.ts'
import type { Judge } from './judgement.ts'
import { isPending } from './mfa.ts'
import { intentPlace, messagePlace } from './sealed-requests.ts'
import { openResult } from './sealed-results.ts'
import { NotPrepared, type Work } from './work.ts'

/** The tools for reading activities. */
export interface ViewTools {
  readonly judge: Judge
  readonly cases: Cases
  readonly unseal: Sealing['unseal']
}

/** Gathers what is said about activities of one organization, for one caller; or for nobody, who may not vote on them. */
export async function viewActivities(
  tools: ViewTools,
  tx: Transaction,
  activities: readonly ActivityRecordRow[],
  request: {
    readonly caller: Caller | undefined
    readonly now: number
    readonly work: Work
    /** All votes of the activities, where they are known. @default read */
    readonly votes?: readonly VoteRow[] | undefined
  },
): Promise<ActivityDetails[]> {
  const organizationId = activities[0]?.organization_id
  if (organizationId === undefined) return []
  const ids = activities.map(({ id }) => id)
  const votes = request.votes ?? (await listVotes(tx, organizationId, ids))
  const users = await readVoters(tx, organizationId, votes)
  const asked = activities.filter((activity) => activity.generate_app_proofs === 1).map(({ id }) => id)
  const listing = listAppProofs(tx, organizationId, asked)
  const proofs = listing instanceof Promise ? await listing : listing
  const views: ActivityDetails[] = []
  // What is missing is prepared for all of them at once: everything is done again only once then.
  const missing: NotPrepared[] = []
  const { caller } = request
  for (const activity of activities) {
    const own = activities.length === 1 ? votes : votes.filter((vote) => vote.activity_id === activity.id)
    const rights =
      caller && mayBeVotedOn(activity, caller)
        ? await readRights(tools, tx, activity, own, { ...request, caller }).catch((thrown: unknown) => {
            if (!(thrown instanceof NotPrepared)) throw thrown
            missing.push(thrown)
            return NO_RIGHTS
          })
        : NO_RIGHTS
    const isSubmitter = caller !== undefined && own[0]?.user_id === caller.userId && caller.homeId === organizationId
    const intent = openText(tools.unseal, activity.intent, intentPlace(activity.id))
    const shown = { ...openResult(tools.unseal, activity, isSubmitter), intent }
    const shownVotes = own.map((vote) => {
      const message = openText(tools.unseal, vote.message, messagePlace(vote.id))
      return { vote: { ...vote, message }, user: users.get(vote.user_id)! }
    })
    const appProofs = proofs.find((row) => row.activity_id === activity.id)?.proofs
    views.push({ activity: shown, appProofs, votes: shownVotes, ...rights })
  }
  if (missing.length > 0) throw NotPrepared.all(missing)
  return views
}

async function readVoters(
  tx: Transaction,
  organizationId: string,
  votes: readonly VoteRow[],
): Promise<Map<string, JsonObject>> {
  const users = new Map<string, JsonObject>()
  for (const { user_id: id } of votes) {
    if (users.has(id)) continue
    const reading = toWireUser(tx, organizationId, id)
    users.set(id, (reading instanceof Promise ? await reading : reading) ?? goneUser(id))
  }
  return users
}

/** Clients require the user of a vote; of one who has been deleted nothing is left but the id. */
function goneUser(userId: string): JsonObject {
  const never = { ...toTimestamp(0) }
  const none: JsonObject[] = []
  return {
    userId,
    userName: '',
    authenticators: none,
    apiKeys: none,
    userTags: none,
    oauthProviders: none,
    createdAt: never,
    updatedAt: never,
    mfaPolicies: none,
  }
}

const NO_RIGHTS = { canApprove: false, canReject: false }

/** Nobody votes on what does not wait, in another organization, or by a session that only reads. */
function mayBeVotedOn({ status, organization_id: organizationId }: ActivityRecordRow, caller: Caller): boolean {
  return isWaiting(status) && !caller.readsOnly && caller.homeId === organizationId
}

/**
 * Whether the caller could approve or reject at this moment. Unstated: said honestly while the activity waits, and
 * `false` otherwise (docs/protocol/activities.md#the-answer).
 */
async function readRights(
  { judge, cases }: ViewTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  votes: readonly VoteRow[],
  { caller, now, work }: { readonly caller: Caller; readonly now: number; readonly work: Work },
): Promise<{ canApprove: boolean; canReject: boolean }> {
  const item = cases.reopen(tx, activity, votes[0]!.user_id, { now, work })
  if (!item) return NO_RIGHTS
  const ballots = await countBallots(tx, activity, votes, now)
  const voter = { userId: caller.userId, credential: caller.credential }
  try {
    const hasBegun = votes.some((vote) => vote.user_id === caller.userId && isPending(vote))
    const judged = withHeldSubmitter(activity, votes, ballots)
    if (!hasBegun && !(await judge.mayVote(item, judged, voter))) return NO_RIGHTS
  } catch (error) {
    // What the activity is about may be gone by now; then a vote would be refused.
    if (error instanceof ApiError) return NO_RIGHTS
    throw error
  }
  return { canApprove: !ballots.some(({ userId }) => userId === caller.userId), canReject: true }
}
