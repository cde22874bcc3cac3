/**
 * A submit, from an admitted caller to the activity's next status, in one transaction:
 * vote? → known bytes? → liveness → handler → checks → decision → record → execution.
 */
import { newTimeOrderedUuid } from '../../crypto/index.ts'
import { type ApiError, apiError } from '../../protocol/index.ts'
import { sealText } from '../keys/index.ts'
import {
  type ActivityRecordRow,
  type ActivityUpdate,
  findActivityByFingerprint,
  fingerprintOfDenied,
  insertActivity,
  type Rows,
  type Transaction,
  type VoteRow,
  whenRead,
} from '../store/index.ts'
import { makeAppProofs } from './app-proofs.ts'
import { admitDenial, keptIntent, keptMessage } from './denials.ts'
import { execute, failureOf } from './execution.ts'
import type { FollowUp } from './follow-ups.ts'
import { textOfIntent } from './intent-text.ts'
import { denialOf } from './judgement.ts'
import { checkLiveness } from './liveness.ts'
import { stepsOfVote } from './mfa.ts'
import { checkScope } from './scope.ts'
import { hasSecret, intentPlace } from './sealed-requests.ts'
import type { EngineTools } from './tools.ts'
import {
  AUTHENTICATORS_NEEDED,
  ballotOf,
  recordVote,
  type VotingCaller,
  voteByFingerprint,
  voteByResubmission,
} from './voting.ts'

/** The result of a submit. */
export interface SubmitResult {
  /** Absent where the request was denied and is only counted. */
  readonly activity?: ActivityRecordRow
  /** The activity's votes, where they are known. */
  readonly votes?: readonly VoteRow[] | undefined
  /** The answer to the caller in place of the activity. */
  readonly denial?: ApiError | undefined
  /** Whether the denial is kept, to be read later, or only counted. */
  readonly denialIs?: 'kept' | 'counted'
  /** Whether the activity is new or has changed, of which its followers are told. */
  readonly isNews?: boolean
  /** What is to follow the commit. */
  readonly followUps?: ReadonlySet<FollowUp>
}

/**
 * Takes one submit of a caller who has been admitted. Throws `ApiError`; then nothing of it is left. A denial comes back: what
 * was decided is kept.
 */
export async function submit(tools: EngineTools, tx: Transaction, voter: VotingCaller): Promise<SubmitResult> {
  const submitted = await voteOrStart(tools, tx, voter)
  // Bytes that were denied may be sent once more with their stamp.
  if (!submitted.denial && voter.caller.onTaken) await voter.caller.onTaken(tx)
  return submitted
}

function voteOrStart(tools: EngineTools, tx: Transaction, voter: VotingCaller): Rows<SubmitResult> {
  const { caller, request } = voter
  if (request.row.resultKey === null) return voteByFingerprint(tools, tx, voter)
  return whenRead(findActivityByFingerprint(tx, caller.organizationId, request.fingerprint), (known) =>
    known ? voteByResubmission(tools, tx, known, voter) : start(tools, tx, voter),
  )
}

/**
 * Decides about bytes that nobody has sent before; submitting is the first approval. A denied activity is kept as FAILED
 * for an operator who asks what was decided (U-denied-surface), under a fingerprint that no bytes have: sent again, the
 * same bytes are judged anew, and nobody's denied request counts as an approval of anything
 * (docs/protocol/activities.md#the-same-body-again).
 */
async function start(tools: EngineTools, tx: Transaction, voter: VotingCaller): Promise<SubmitResult> {
  const { caller, request, now, work } = voter
  checkLiveness(request.timestampMs, now)
  const { answers } = request.prepared
  const item = tools.cases.open(request.row, request.intent, {
    tx,
    organizationId: caller.organizationId,
    homeId: caller.homeId,
    submitterId: caller.userId,
    now,
    work,
    ...request.prepared,
  })
  const validating = item.handler.validate?.(item.context, item.intent)
  if (validating instanceof Promise) await validating
  const scoping = checkScope(tools, item, { caller, ballots: [] })
  if (scoping instanceof Promise) await scoping
  const decision = await tools.judge.decide(item, [ballotOf(caller)])
  const denial = denialOf(decision, { mayWait: caller.homeId === caller.organizationId })
  const stepping = denial
    ? undefined
    : stepsOfVote(tools, item, { caller, votes: [], ballots: [], windowOpenedAt: now })
  const steps = stepping instanceof Promise ? await stepping : stepping
  // A parent's user who submits inside cannot come back to it with another factor.
  if (steps?.isPending && caller.homeId !== caller.organizationId) throw apiError('notAuthorized')
  const allowed = decision.outcome === 'OUTCOME_ALLOW' && !steps?.isPending
  const id = newTimeOrderedUuid(now, tools.randomBytes)
  const failure = denial && JSON.stringify(failureOf(denial))
  if (failure !== undefined) {
    const { organizationId, userId } = caller
    const { fingerprint } = request
    const denied = { organizationId, userId, now, mostADay: tools.keptDenialsADay, request: { fingerprint, failure } }
    if (!(await admitDenial(tx, denied))) return { denial, denialIs: 'counted' }
  }
  const executed = allowed ? await execute(tools, item, { activityId: id, recheck: false }) : undefined
  if (executed?.counted) return { denial: executed.counted }
  const notExecuted: ActivityUpdate =
    failure === undefined
      ? { status: steps?.isPending ? AUTHENTICATORS_NEEDED : 'ACTIVITY_STATUS_CONSENSUS_NEEDED', updated_at: now }
      : { status: 'ACTIVITY_STATUS_FAILED', failure, updated_at: now }
  const isSecret = hasSecret(request.row.intent, request.intent)
  const intent = denial ? keptIntent(request.intent) : textOfIntent(request.intent)
  // Written once, as it has become: the transaction is one, so nobody could have seen it before.
  const inserting = insertActivity(tx, {
    id,
    organization_id: caller.organizationId,
    type: request.row.type,
    fingerprint: denial ? fingerprintOfDenied(request.fingerprint, id) : request.fingerprint,
    intent: isSecret ? sealText(tools.seal, intent, intentPlace(id)) : intent,
    answers: answers === undefined ? null : JSON.stringify(answers),
    result: null,
    failure: null,
    timestamp_ms: request.timestampMs,
    generate_app_proofs: request.generateAppProofs ? 1 : 0,
    window_opened_at: now,
    created_at: now,
    ...(executed?.became ?? notExecuted),
  })
  const activity = inserting instanceof Promise ? await inserting : inserting
  const message = denial ? keptMessage(request.message, request.fingerprint) : request.message
  const vote = await recordVote(tools, tx, activity, voter, {
    message,
    isSecret,
    selection: 'VOTE_SELECTION_APPROVED',
    castAt: now,
    behind: [],
    decision,
    steps,
  })
  const proving = executed && makeAppProofs(tools, tx, activity, { made: executed.made, decision, votes: [vote], now })
  if (proving instanceof Promise) await proving
  return {
    denial,
    activity,
    votes: [vote],
    isNews: denial === undefined,
    ...(denial && { denialIs: 'kept' as const }),
    ...(executed && { followUps: executed.followUps }),
  }
}
