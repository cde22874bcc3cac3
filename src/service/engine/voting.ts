/**
 * Votes on an activity that exists (docs/protocol/activities.md#votes, docs/protocol/policies.md#consensus).
 *
 * An approval comes as `approve_activity` with the fingerprint, or as the very bytes of the submission from another
 * user. Every approval runs the whole decision again; the one that makes it ALLOW executes the activity in the same
 * transaction. One rejection by a user who may vote ends the activity. After 24 hours the approvals lapse, the activity
 * stays, and the next approval opens a new window in which everybody else must approve again.
 */
import { type Ballot, windowAfter, withBallot } from '../../authority/index.ts'
import { newUuid } from '../../crypto/index.ts'
import { type ApiError, apiError, isTerminal, permissionDenied, REQUEST_LIMITS } from '../../protocol/index.ts'
import { sealText } from '../keys/index.ts'
import {
  type ActivityRecordRow,
  findActivityByFingerprint,
  insertPolicyEvaluation,
  insertPolicySet,
  insertVote,
  listVotes,
  type Transaction,
  updateActivity,
  type VoteRow,
} from '../store/index.ts'
import { makeAppProofs } from './app-proofs.ts'
import { countBallots, withHeldSubmitter } from './ballots.ts'
import type { Caller } from './caller.ts'
import { admitDenial } from './denials.ts'
import { execute } from './execution.ts'
import type { FollowUp } from './follow-ups.ts'
import { type Case, denialOf, type Judgement } from './judgement.ts'
import { checkLiveness } from './liveness.ts'
import { isPending, pendingDecision, type StepsOfVote, stepsOfVote } from './mfa.ts'
import { encodeOutcomes } from './outcomes.ts'
import { rejectedTooLate, tooManyVoteBytes } from './readings.ts'
import type { PreparedSubmit } from './request.ts'
import { checkScope } from './scope.ts'
import { hasSecret, messagePlace } from './sealed-requests.ts'
import type { EngineTools } from './tools.ts'
import type { Work } from './work.ts'

/** While factors of the submitter, or of the voter who is answered, are missing (docs/protocol/mfa.md#votes). */
export const AUTHENTICATORS_NEEDED = 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'

type Selection = 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED'

/** The caller who votes, with the request and its time. */
export interface VotingCaller {
  readonly caller: Caller
  readonly request: PreparedSubmit
  readonly now: number
  readonly work: Work
}

/** The activity as the vote leaves it. */
export interface Voted {
  readonly activity: ActivityRecordRow
  /** The answer to the voter in place of the activity: with this vote it would be denied, so the vote does not count. */
  readonly denial?: ApiError
  /** Whether what was decided is kept, or only counted. */
  readonly denialIs?: 'kept' | 'counted'
  /** Whether followers of the activity are told: its status has changed, or a vote counts while it waits. */
  readonly isNews?: boolean
  /** What is to follow the commit, where the vote had the activity executed. */
  readonly followUps?: ReadonlySet<FollowUp>
}

/** Takes `approve_activity` or `reject_activity` and returns the activity that was voted on. Throws `ApiError`. */
export async function voteByFingerprint(tools: EngineTools, tx: Transaction, voter: VotingCaller): Promise<Voted> {
  const { caller, request, now } = voter
  if (request.message.length > REQUEST_LIMITS.voteBytes)
    throw apiError('badRequestBody', `a vote has at most ${REQUEST_LIMITS.voteBytes} bytes`)
  const fingerprint = String(request.intent['fingerprint'])
  const activity = await findActivityByFingerprint(tx, caller.organizationId, fingerprint)
  if (!activity) throw apiError('activityNotFound')
  const votes = await listVotes(tx, activity.organization_id, [activity.id])
  // The bytes of a vote count once, so that nobody can replay them when it has lapsed.
  if (votes.some((vote) => vote.user_id === caller.userId && vote.message === request.message)) return { activity }
  checkLiveness(request.timestampMs, now)
  if (request.row.family === 'REJECT_ACTIVITY') return reject(tools, tx, activity, votes, voter)
  return approve(tools, tx, activity, votes, voter)
}

/**
 * Takes the bytes of a known submission once more: from somebody who has voted it is a repetition and changes nothing,
 * from anybody else an approval (docs/protocol/activities.md#the-same-body-again).
 */
export async function voteByResubmission(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  voter: VotingCaller,
): Promise<Voted> {
  const votes = await listVotes(tx, activity.organization_id, [activity.id])
  if (votes.some((vote) => vote.user_id === voter.caller.userId)) return { activity }
  checkRoomForVote(activity, votes, voter)
  return approve(tools, tx, activity, votes, voter)
}

/** Each vote is kept and shown with the bytes that were signed; there must be room for them in an answer. */
function checkRoomForVote(activity: ActivityRecordRow, votes: readonly VoteRow[], { request }: VotingCaller): void {
  const bytes = votes.reduce((sum, { message }) => sum + message.length, request.message.length)
  if (bytes <= REQUEST_LIMITS.votesBytes || isTerminal(activity.status)) return
  throw tooManyVoteBytes(activity.id)
}

async function approve(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  votes: readonly VoteRow[],
  voter: VotingCaller,
): Promise<Voted> {
  const { now } = voter
  if (isTerminal(activity.status)) return { activity }
  const item = reopenOrRefuse(tools, tx, activity, votes, voter)
  const ballots = await countBallots(tx, activity, votes, now)
  const ballot = ballotOf(voter.caller)
  if (ballots.some(({ userId }) => userId === ballot.userId)) return { activity }
  const judged = withHeldSubmitter(activity, votes, ballots)
  // A user who has begun to vote may add the other factors: that the user may vote was checked when the vote began.
  const hasBegun = votes.some((vote) => vote.user_id === ballot.userId && isPending(vote))
  if (!hasBegun && !(await tools.judge.mayVote(item, judged, ballot))) throw permissionDenied([])
  await checkScope(tools, item, { caller: voter.caller, ballots: judged })
  const decision = await tools.judge.decide(item, withBallot(judged, ballot))
  // A denied vote is no vote: it leaves the activity waiting as it was, and only what was decided is kept.
  const denial = denialOf(decision, { mayWait: true })
  if (denial) {
    const { organization_id: organizationId } = activity
    const denied = { organizationId, userId: ballot.userId, now, mostADay: tools.keptDenialsADay }
    const isKept = await admitDenial(tx, denied)
    if (isKept) await recordDenied(tools, tx, activity, { behind: votes, decidedAt: now, decision })
    return { activity, denial, denialIs: isKept ? 'kept' : 'counted' }
  }
  const { window_opened_at: openedAt } = activity
  const steps = await stepsOfVote(tools, item, {
    caller: voter.caller,
    votes,
    ballots: judged,
    windowOpenedAt: openedAt,
  })
  const windowOpenedAt = windowAfter(openedAt, now)
  const vote = await recordVote(tools, tx, activity, voter, {
    selection: 'VOTE_SELECTION_APPROVED',
    // A clock that stepped back must not put the vote before the window that it stands in.
    castAt: Math.max(now, windowOpenedAt),
    behind: votes,
    decision,
    steps,
  })
  const isHeld = activity.status === AUTHENTICATORS_NEEDED && (steps.isPending || votes[0]!.user_id !== ballot.userId)
  const voted = await updateActivity(tx, activity, {
    status: isHeld ? AUTHENTICATORS_NEEDED : 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    window_opened_at: windowOpenedAt,
    updated_at: now,
  })
  // Unstated: whom it is told: the voter alone, while for everybody else the activity waits as it did.
  const isNews = voted.status !== activity.status || !(steps.isPending || isHeld)
  if (steps.isPending) return { activity: { ...voted, status: AUTHENTICATORS_NEEDED }, isNews }
  if (isHeld || decision.outcome !== 'OUTCOME_ALLOW') return { activity: voted, isNews }
  const { became, followUps, made } = await execute(tools, item, { activityId: voted.id, recheck: true })
  const done = await updateActivity(tx, voted, became)
  await makeAppProofs(tools, tx, done, { made, decision, votes: [...votes, vote], now })
  return { activity: done, isNews: true, followUps }
}

/** Unstated: one rejection by a user who may vote is final, also by the submitter (docs/protocol/activities.md#votes). */
async function reject(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  votes: readonly VoteRow[],
  voter: VotingCaller,
): Promise<Voted> {
  const { now } = voter
  if (isTerminal(activity.status)) throw rejectedTooLate(activity)
  const item = reopenOrRefuse(tools, tx, activity, votes, voter)
  const ballots = await countBallots(tx, activity, votes, now)
  const judged = withHeldSubmitter(activity, votes, ballots)
  if (!(await tools.judge.mayVote(item, judged, ballotOf(voter.caller)))) throw permissionDenied([])
  await checkScope(tools, item, { caller: voter.caller, ballots })
  await recordVote(tools, tx, activity, voter, {
    selection: 'VOTE_SELECTION_REJECTED',
    castAt: now,
    behind: votes,
  })
  const rejected = await updateActivity(tx, activity, { status: 'ACTIVITY_STATUS_REJECTED', updated_at: now })
  return { activity: rejected, isNews: true }
}

/** Records a vote with what was stamped and gives its row, and what the policies made of it: nothing was run for a rejection. */
export async function recordVote(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  { caller, request }: VotingCaller,
  vote: {
    readonly selection: Selection
    readonly castAt: number
    /** The votes that there are. */
    readonly behind: readonly VoteRow[]
    readonly decision?: Judgement
    readonly steps?: StepsOfVote | undefined
    /** @default the bytes that were stamped */
    readonly message?: string
    /** @default whether the request has a secret */
    readonly isSecret?: boolean
  },
): Promise<VoteRow> {
  const { message = request.message, isSecret = hasSecret(request.row.intent, request.intent) } = vote
  const id = newUuid(tools.randomBytes)
  const decision = vote.decision && (vote.steps?.isPending ? pendingDecision(vote.decision) : vote.decision)
  const evaluating = evaluationOf(tx, activity, decision)
  const evaluation = evaluating instanceof Promise ? await evaluating : evaluating
  return insertVote(tx, {
    id,
    organization_id: activity.organization_id,
    activity_id: activity.id,
    user_id: caller.userId,
    credential_id: caller.credential.id,
    credential: JSON.stringify(caller.credential),
    selection: vote.selection,
    message: isSecret ? sealText(tools.seal, message, messagePlace(id)) : message,
    ...caller.signed,
    position: positionOfLast(vote.behind) + 1,
    mfa_policy_id: vote.steps?.policyId ?? null,
    mfa_pending: vote.steps?.isPending ? 1 : 0,
    evaluation_id: newUuid(tools.randomBytes),
    ...evaluation,
    created_at: vote.castAt,
  })
}

/** The position of the last of an activity's votes. */
function positionOfLast(votes: readonly VoteRow[]): number {
  return votes.at(-1)?.position ?? 0
}

/**
 * Unstated: what `get_policy_evaluations`, which tells of each vote (docs/protocol/activities.md#evaluations), says of
 * a denied one. It is told under the id that the vote was given, which is that of none of the activity's votes.
 */
async function recordDenied(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  denied: { readonly behind: readonly VoteRow[]; readonly decidedAt: number; readonly decision: Judgement },
): Promise<void> {
  await insertPolicyEvaluation(tx, {
    id: newUuid(tools.randomBytes),
    organization_id: activity.organization_id,
    activity_id: activity.id,
    vote_id: newUuid(tools.randomBytes),
    ...(await evaluationOf(tx, activity, denied.decision)),
    behind_vote: positionOfLast(denied.behind),
    created_at: denied.decidedAt,
  })
}

/** What the policies made of a vote, as it is kept, and once for each version of them which policies these are. */
function evaluationOf(tx: Transaction, activity: ActivityRecordRow, decision: Judgement | undefined) {
  const { policies = [], policyVersion: version } = decision ?? {}
  const isAsked = version !== undefined && policies.length > 0
  const evaluation = { policy_version: isAsked ? version.id : null, outcomes: encodeOutcomes(policies) }
  // What a parent does inside is judged by the parent's policies, which may be kept of the parent alone.
  if (!isAsked || (version.isKept && version.organizationId === activity.organization_id)) return evaluation
  const policyIds = JSON.stringify(policies.map(({ policyId }) => policyId))
  const set = { organization_id: activity.organization_id, version: version.id, policy_ids: policyIds }
  return insertPolicySet(tx, set).then(() => evaluation)
}

/** The ballot of the caller's approval. */
export function ballotOf(caller: Caller): Ballot {
  return { userId: caller.userId, credential: caller.credential }
}

function reopenOrRefuse(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  votes: readonly VoteRow[],
  voter: VotingCaller,
): Case {
  // INVARIANT: the first vote is the submission itself.
  const item = tools.cases.reopen(tx, activity, votes[0]!.user_id, voter)
  if (!item) throw apiError('notImplemented', activity.type)
  return item
}
