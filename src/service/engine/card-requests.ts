/**
 * Requests that hold the number and the code of a payment card. INVARIANT: neither is kept, sealed or not, nor anything that they
 * could be guessed from: number and code are struck out of the intent as soon as it was checked, of the bytes that were stamped a
 * note stays in the place, and the fingerprint is one under a key of this service, since a plain hash of the bytes would let
 * somebody who knows the rest of them try out the digits (docs/protocol/organizations.md#billing).
 */
import type { JsonObject } from '../../protocol/index.ts'
import type { Caller } from './caller.ts'

interface CardRequest {
  readonly type: string
  readonly intent: JsonObject
  readonly message: string
  readonly fingerprint: string
}

const TYPE = 'ACTIVITY_TYPE_SET_PAYMENT_METHOD'

/** Gives the request as it may be kept; one without a card as it came. Of a number that is none not a digit is left. */
export function strikeOutCard<Request extends CardRequest>(
  request: Request,
  keyedFingerprint: (fingerprint: string) => string,
): Request {
  if (request.type !== TYPE) return request
  const { number, cvv } = request.intent as { readonly number: string; readonly cvv: string }
  const fingerprint = keyedFingerprint(request.fingerprint)
  const bytes = Buffer.byteLength(request.message)
  const lastFour = number.length >= 12 && hasCheckDigit(number) ? number.slice(-4) : ''
  return {
    ...request,
    intent: { ...request.intent, number: lastFour.padStart(number.length, '*'), cvv: '*'.repeat(cvv.length) },
    message: `${fingerprint} stands for ${bytes} bytes, which held the number of a card and are not kept`,
    fingerprint,
  }
}

/** Gives the caller as a vote keeps it: a signature over the bytes would tell whether somebody has guessed them. */
export function withoutSignature(type: string, caller: Caller): Caller {
  return type === TYPE ? { ...caller, signed: { ...caller.signed, signature: '' } } : caller
}

/** ISO/IEC 7812-1, annex B: every second digit from the right counts double. */
function hasCheckDigit(number: string): boolean {
  let sum = 0
  for (const [at, digit] of [...number].reverse().entries()) {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}
