/**
 * Results that are secrets: an activity keeps them sealed, and its submitter alone is shown them. A reader of the database, a
 * snapshot or the activities of an organization finds nothing to log in with (docs/protocol/activities.md#secret-results).
 */
import { decodeHex, decodeUtf8, encodeHex, encodeUtf8 } from '../../encoding/index.ts'
import { type ActivityFamily, findActivity, type JsonObject } from '../../protocol/index.ts'
import { SECRET_RESULTS, type SealedPlace, type Sealing } from '../keys/index.ts'
import type { ActivityRecordRow } from '../store/index.ts'

/** Gives the result as it is kept. */
export function sealResult(
  seal: Sealing['seal'],
  { family, activityId }: { readonly family: ActivityFamily; readonly activityId: string },
  result: JsonObject,
): JsonObject {
  const member = SECRET_RESULTS[family]
  const secret = member === undefined ? undefined : result[member]
  if (member === undefined || typeof secret !== 'string') return result
  return { ...result, [member]: encodeHex(seal(encodeUtf8(secret), placeOf(activityId))) }
}

/** Gives the activity as it is shown: the secret to its submitter, and nothing in its place to others. */
export function openResult(
  unseal: Sealing['unseal'],
  activity: ActivityRecordRow,
  isSubmitter: boolean,
): ActivityRecordRow {
  if (activity.result === null) return activity
  const family = findActivity(activity.type)?.row.family
  const member = family === undefined ? undefined : SECRET_RESULTS[family]
  if (member === undefined) return activity
  const result = JSON.parse(activity.result) as JsonObject
  const secret = isSubmitter ? decodeUtf8(unseal(decodeHex(String(result[member])), placeOf(activity.id))) : ''
  return { ...activity, result: JSON.stringify({ ...result, [member]: secret }) }
}

function placeOf(activityId: string): SealedPlace {
  return { table: 'activities', id: activityId, column: 'result' }
}
