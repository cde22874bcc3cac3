import { findActivity, type Json, type JsonObject, toTimestamp } from '../../protocol/index.ts'
import { type ActivityRecordRow, shownFingerprint, type VoteRow } from '../store/index.ts'

/** The parts of an activity's answer besides its row. */
export interface ActivityView {
  readonly activity: ActivityRecordRow
  readonly votes: readonly { readonly vote: VoteRow; readonly user: JsonObject }[]
  /** JSON of its proofs, where it has some. */
  readonly appProofs: string | undefined
  /** For the caller of this very request. */
  readonly canApprove: boolean
  readonly canReject: boolean
}

/**
 * Writes an activity as the API does, members in the order that was seen (docs/protocol/activities.md#the-answer).
 *
 * With `nestedCopy` one answer satisfies both readings of the envelope: the schema's record with `timestampMs` added,
 * and inside `result`, after the result itself, the same record once more. Clients take the result key or the first key
 * ending in `Result`, so `activity` must come last.
 */
export function toWireActivity(view: ActivityView, options: { readonly nestedCopy: boolean }): JsonObject {
  const record = toRecord(view)
  if (!options.nestedCopy) return record
  return {
    ...record,
    result: { ...(record['result'] as JsonObject), activity: record },
    timestampMs: view.activity.timestamp_ms,
  }
}

function toRecord({ activity, appProofs, votes, canApprove, canReject }: ActivityView): JsonObject {
  const row = findActivity(activity.type)?.row
  if (!row) throw new Error(`expected a stored activity of a known type, got ${activity.type}`)
  return {
    id: activity.id,
    organizationId: activity.organization_id,
    status: activity.status,
    type: activity.type,
    intent: { [row.intentKey]: parse(activity.intent) },
    // `{}` until there is a result: null or nothing at all breaks clients that spread it.
    result: activity.result === null || row.resultKey === null ? {} : { [row.resultKey]: parse(activity.result) },
    votes: votes.map(({ vote, user }) => toWireVote(vote, user)),
    fingerprint: shownFingerprint(activity.fingerprint),
    canApprove,
    canReject,
    createdAt: { ...toTimestamp(activity.created_at) },
    updatedAt: { ...toTimestamp(activity.updated_at) },
    failure: activity.failure === null ? null : parse(activity.failure),
    ...(appProofs !== undefined && { appProofs: parse(appProofs) }),
  }
}

function toWireVote(vote: VoteRow, user: JsonObject): JsonObject {
  return {
    id: vote.id,
    userId: vote.user_id,
    user,
    activityId: vote.activity_id,
    selection: vote.selection,
    message: vote.message,
    publicKey: vote.public_key,
    signature: vote.signature,
    scheme: vote.scheme,
    createdAt: { ...toTimestamp(vote.created_at) },
  }
}

function parse(text: string): Json {
  return JSON.parse(text) as Json
}
