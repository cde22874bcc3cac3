/**
 * Requests that hold secrets, such as a token or a code: the intent of the activity and the bytes that were stamped are kept
 * sealed, and shown as they were sent (docs/protocol/activities.md#secret-requests). A reader of the database or of a snapshot
 * finds nothing to log in with.
 */
import { type Json, type JsonObject, mayHold } from '../../protocol/index.ts'
import type { SealedPlace } from '../keys/index.ts'

/** Members of intents by which somebody could log in, or could finish what somebody else has begun. */
const SECRETS: ReadonlySet<string> = new Set(['oidcToken', 'verificationToken', 'otpCode', 'authCode', 'codeVerifier'])

/** Whether an intent has a secret somewhere; `message` names its schema. */
export function hasSecret(message: string, intent: JsonObject): boolean {
  return mayHold(message, SECRETS) && isSecret(intent)
}

function isSecret(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) =>
    typeof member === 'string' ? member !== '' && SECRETS.has(name) : isSecret(member),
  )
}

/** The place of an activity's intent. */
export function intentPlace(activityId: string): SealedPlace {
  return { table: 'activities', id: activityId, column: 'intent' }
}

/** The place of the bytes that a vote was stamped with. */
export function messagePlace(voteId: string): SealedPlace {
  return { table: 'votes', id: voteId, column: 'message' }
}
