/**
 * Requests that hold secrets, such as a token or a code: the intent of the activity and the bytes that were stamped are kept
 * sealed, and shown as they were sent (docs/protocol/activities.md#secret-requests). A reader of the database or of a snapshot
 * finds nothing to log in with.
 */
import { decodeBase64, decodeUtf8, encodeBase64, encodeUtf8 } from '../../encoding/index.ts'
import type { Json } from '../../protocol/index.ts'
import type { SealedPlace, Sealing } from '../keys/index.ts'

/** Members of intents by which somebody could log in, or could finish what somebody else has begun. */
const SECRETS: ReadonlySet<string> = new Set(['oidcToken', 'verificationToken', 'otpCode', 'authCode', 'codeVerifier'])

/** What a sealed text begins with; no JSON does. */
const MARK = 'sealed:'

/** Whether an intent has a secret somewhere. */
export function hasSecret(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) =>
    typeof member === 'string' ? member !== '' && SECRETS.has(name) : hasSecret(member),
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

/** Seals a text for its place. */
export function sealText(seal: Sealing['seal'], text: string, place: SealedPlace): string {
  return `${MARK}${encodeBase64(seal(encodeUtf8(text), place))}`
}

/** Gives the text, whether it was sealed or not. */
export function openText(unseal: Sealing['unseal'], text: string, place: SealedPlace): string {
  return text.startsWith(MARK) ? decodeUtf8(unseal(decodeBase64(text.slice(MARK.length)), place)) : text
}
