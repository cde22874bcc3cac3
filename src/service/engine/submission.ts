/**
 * A submit, from a verified stamp to the activity's next status, in one transaction (design: the service):
 * caller → vote? → known bytes? → liveness → handler → checks → decision → record → execution.
 */
import { newTimeOrderedUuid } from '../../crypto/index.ts'
import { setSignCount } from '../store/authenticators.ts'
import { type ActivityRecordRow, findActivityByFingerprint, insertActivity, type Transaction } from '../store/index.ts'
import { type Caller, resolveCaller } from './caller.ts'
import { execute } from './execution.ts'
import { refuseDenial } from './judgement.ts'
import { checkLiveness } from './liveness.ts'
import { RESOLVED_BELOW } from './readings.ts'
import type { SubmitRequest } from './request.ts'
import { checkSource } from './source-address.ts'
import type { EngineTools } from './tools.ts'
import { ballotOf, recordVote, voteByFingerprint, voteByResubmission } from './voting.ts'

/** What became of a submit, and for whom. */
export interface Submitted {
  readonly activity: ActivityRecordRow
  readonly caller: Caller
}

/** Takes one submit. Throws `ApiError`; then nothing of it is left. */
export async function submit(
  tools: EngineTools,
  tx: Transaction,
  request: SubmitRequest,
  now: number,
): Promise<Submitted> {
  const reach = RESOLVED_BELOW.has(request.row.family) ? 'submit-below' : 'submit'
  const caller = await resolveCaller(tx, request.proof, request.organizationId, { reach, now })
  await checkSource(tx, caller, request.source)
  if (caller.counted) await setSignCount(tx, caller.counted.authenticator, caller.counted.signCount)
  const voter = { caller, request, now }
  if (request.row.resultKey === null) return { caller, activity: await voteByFingerprint(tools, tx, voter) }
  const known = await findActivityByFingerprint(tx, caller.organizationId, request.fingerprint)
  if (known) return { caller, activity: await voteByResubmission(tools, tx, known, voter) }
  return { caller, activity: await start(tools, tx, voter) }
}

/** Decides about bytes that nobody has sent before; submitting is the first approval. */
async function start(
  tools: EngineTools,
  tx: Transaction,
  voter: { readonly caller: Caller; readonly request: SubmitRequest; readonly now: number },
): Promise<ActivityRecordRow> {
  const { caller, request, now } = voter
  checkLiveness(request.timestampMs, now)
  const item = tools.prepareCase(tx, request.row, request.intent, {
    organizationId: caller.organizationId,
    submitterId: caller.userId,
    now,
    identityOf: request.identityOf,
  })
  await item.handler.validate?.(item.context, item.intent)
  const decision = await tools.judge.decide(item, [ballotOf(caller)])
  refuseDenial(decision)
  const allowed = decision.outcome === 'OUTCOME_ALLOW'
  const activity = await insertActivity(tx, {
    id: newTimeOrderedUuid(now, tools.randomBytes),
    organization_id: caller.organizationId,
    type: request.row.type,
    status: allowed ? 'ACTIVITY_STATUS_PENDING' : 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    fingerprint: request.fingerprint,
    intent: JSON.stringify(request.intent),
    result: null,
    failure: null,
    timestamp_ms: request.timestampMs,
    generate_app_proofs: request.generateAppProofs ? 1 : 0,
    window_opened_at: now,
    created_at: now,
    updated_at: now,
  })
  await recordVote(tools, tx, activity, voter, { selection: 'VOTE_SELECTION_APPROVED', castAt: now, decision })
  return allowed ? execute(item, activity, { ...tools, recheck: false }) : activity
}
