import { activityRow } from '../../protocol/catalogue.ts'
import { type JsonObject, toTimestamp } from '../../protocol/index.ts'
import { type ActivityRecordRow, shownFingerprint, type VoteRow } from '../store/index.ts'

/** The parts of an activity's answer besides its row. */
export interface ActivityDetails {
  readonly activity: ActivityRecordRow
  readonly votes: readonly { readonly vote: VoteRow; readonly user: JsonObject }[]
  /** JSON of its proofs, where it has some. */
  readonly appProofs: string | undefined
  /** For the caller of this very request. */
  readonly canApprove: boolean
  readonly canReject: boolean
}

/**
 * Writes an activity as the API does, members in the order that was seen (docs/protocol/activities.md#the-answer), as JSON text:
 * intent, result and failure are stored as that, and are not read to be written again.
 *
 * With `nestedCopy` one answer satisfies both readings of the envelope: the schema's record with `timestampMs` added,
 * and inside `result`, after the result itself, the same record once more. Clients take the result key or the first key
 * ending in `Result`, so `activity` must come last.
 */
export function writeActivity(view: ActivityDetails, options: { readonly nestedCopy: boolean }): string {
  const { head, result, tail } = partsOf(view)
  const record = `{${head},"result":{${result}},${tail}}`
  if (!options.nestedCopy) return record
  const timestampMs = JSON.stringify(view.activity.timestamp_ms)
  const nested = `${result}${result && ','}"activity":${record}`
  return `{${head},"result":{${nested}},${tail},"timestampMs":${timestampMs}}`
}

/** The members before the result, in it, and after it. */
function partsOf({ activity, appProofs, votes, canApprove, canReject }: ActivityDetails) {
  const row = activityRow(activity.type)
  if (!row) throw new Error(`expected a stored activity of a known type, got ${activity.type}`)
  const head = {
    id: activity.id,
    organizationId: activity.organization_id,
    status: activity.status,
    type: activity.type,
  }
  const tail = {
    votes: votes.map(({ vote, user }) => toWireVote(vote, user)),
    fingerprint: shownFingerprint(activity.fingerprint),
    canApprove,
    canReject,
    createdAt: toTimestamp(activity.created_at),
    updatedAt: toTimestamp(activity.updated_at),
  }
  const proofs = appProofs === undefined ? '' : `,"appProofs":${appProofs}`
  return {
    head: `${members(head)},"intent":{"${row.intentKey}":${activity.intent}}`,
    // `{}` until there is a result: null or nothing at all breaks clients that spread it.
    result: activity.result === null || row.resultKey === null ? '' : `"${row.resultKey}":${activity.result}`,
    tail: `${members(tail)},"failure":${activity.failure ?? 'null'}${proofs}`,
  }
}

function members(record: object): string {
  return JSON.stringify(record).slice(1, -1)
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
