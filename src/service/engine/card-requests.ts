/**
 * Requests that hold the number and the code of a payment card. INVARIANT: neither is kept, sealed or not, nor anything that they
 * could be guessed from: number and code are struck out of the intent as soon as it was checked, of the bytes that were stamped a
 * note stays in the place, and the fingerprint is one under a key of this service, since a plain hash of the bytes would let
 * somebody who knows the rest of them try out the digits (docs/protocol/organizations.md#billing).
 */
import { type ActivityRow, apiError, isJsonObject, type Json, type JsonObject } from '../../protocol/index.ts'
import type { Caller } from './caller.ts'

interface CardRequest {
  readonly type: string
  readonly intent: JsonObject
  readonly message: string
  readonly fingerprint: string
}

const TYPE = 'ACTIVITY_TYPE_SET_PAYMENT_METHOD'

/** Whose requests are about payment: where a client puts a card by mistake. */
const FAMILIES: ReadonlySet<string> = new Set(['SET_PAYMENT_METHOD', 'DELETE_PAYMENT_METHOD', 'ACTIVATE_BILLING_TIER'])

/** Digits as cards have them, also in groups, which stand for themselves: not those of an id or a longer number. */
const NUMBERS = /(?<![\p{L}\d_-])\d(?:[ -]?\d){12,18}(?![\p{L}\d_-])/gu

/** What the envelope has beside parameters, each of its own form: a time may look like a number. */
const ENVELOPE = { type: null, timestampMs: null, timestamp_ms: null, organizationId: null, organization_id: null }

/**
 * Throws the refusal of a request about payment with the number of a card where it would be kept. That is anywhere but in `number`
 * and `cvv` of the one type that has them: also in members that no message has, since the bytes of other types are kept as they came.
 */
export function refuseStrayCard({ type, family }: ActivityRow, body: JsonObject, intent: JsonObject): void {
  if (!FAMILIES.has(family)) return
  const kept = type === TYPE ? { ...intent, number: null, cvv: null } : { ...body, ...ENVELOPE }
  const field = findNumber(kept)
  if (field !== undefined) throw apiError('invalidField', field, 'must not have the number of a card')
}

/** The name of the member that has a number of a card in its text; of one that is such a number, the one around it. */
function findNumber(value: Json, name = 'parameters'): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return hasNumber(String(value)) ? name : undefined
  const members = Array.isArray(value)
    ? value.map((each) => [name, each] as const)
    : isJsonObject(value)
      ? Object.entries(value)
      : []
  for (const [each, inside] of members) {
    const found = hasNumber(each) ? name : findNumber(inside, each)
    if (found !== undefined) return found
  }
  return undefined
}

function hasNumber(text: string): boolean {
  return (text.match(NUMBERS) ?? []).some((digits) => hasCheckDigit(digits.replace(/\D/g, '')))
}

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
