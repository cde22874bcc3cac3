/**
 * The texts of the API that programs decide by, because the answer has no code or field for what they say. They stand here alone;
 * everything else is decided by a code (docs/protocol/errors.md#texts).
 */
import { refusals } from './refusals.ts'

/** Published: that a wrong passcode is refused in these words; its code, REQUEST_INVALID, is of much else. */
export function saysWrongCode(message: string): boolean {
  return message.toLowerCase().includes(refusals.invalidOtpCode.message().toLowerCase())
}

/**
 * Published: `user has exceeded maximum authenticators` and its like, and that an organization `is over its allotted quota`. Both have
 * the gRPC code of rates, and do not pass by waiting. Our service says its other limits (`maxReached`) in the words of the first.
 */
export function saysLimitReached(message: string): boolean {
  return message.includes('exceeded maximum') || message.includes('over its allotted quota')
}

/** Published: `user missing valid credential`, of a deletion by which a user would keep none; its code, REQUEST_INVALID, is of much else. */
export function saysLastCredential(message: string): boolean {
  return message.includes('missing valid credential')
}

/** Unstated: what our service says of a send whose nonce another transaction has used. The status of a send has a text alone for it. */
export function replacedText(by: { readonly hash: string; readonly sender: string; readonly nonce: number }): string {
  return `replaced by transaction ${by.hash} of ${by.sender} with nonce ${by.nonce}, which was included`
}

/** Whether a send failed for that. */
export function saysReplaced(message: string): boolean {
  return /^replaced by transaction 0x[0-9a-f]{64} /.test(message)
}

/** Unstated: the command that every wait of a send names which no time ends, as the status of a send has a text alone. */
export const RECONCILE_COMMAND = '`quorate sends reconcile`'

/** Whether a send waits for that command. */
export function saysHeld(message: string): boolean {
  return message.includes(RECONCILE_COMMAND)
}
