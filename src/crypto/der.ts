import { type Bytes, concatBytes } from '../encoding/index.ts'

const SEQUENCE = 0x30
const INTEGER = 0x02
/** A 256-bit integer and the zero that keeps it positive. */
const LONGEST_INTEGER = 33

/**
 * Reads a DER signature `SEQUENCE { r INTEGER, s INTEGER }` of a 256-bit curve as `r ‖ s`, 32 bytes each, or
 * `undefined` if it is none. Tolerant in one thing only: an integer may have redundant leading zeros within 33 bytes,
 * as one published client writes them. Trailing bytes, long-form lengths and negative integers are refused
 * (docs/protocol/stamps.md#api-key-stamps).
 */
export function parseDerSignature(der: Uint8Array): Bytes | undefined {
  if (der.length < 2 || der[0] !== SEQUENCE || der[1] !== der.length - 2) return undefined
  const r = readInteger(der, 2)
  if (!r) return undefined
  const s = readInteger(der, r.end)
  if (!s || s.end !== der.length) return undefined
  return concatBytes(r.value, s.value)
}

/**
 * Brings a signature that `parseDerSignature` reads into the one strict form, which the platform wants: nearly every one
 * is in it already, and then it is given back as it is.
 */
export function strictDerSignature(der: Uint8Array): Uint8Array | undefined {
  const signature = parseDerSignature(der)
  if (!signature) return undefined
  const secondInteger = 4 + der[3]!
  return isShortest(der, 2) && isShortest(der, secondInteger) ? der : encodeDerSignature(signature)
}

/** Whether the integer at this place has no zero more than keeps it positive. */
function isShortest(der: Uint8Array, start: number): boolean {
  return der[start + 1] === 1 || der[start + 2] !== 0 || der[start + 3]! >= 0x80
}

function readInteger(der: Uint8Array, start: number): { value: Bytes; end: number } | undefined {
  const length = der[start + 1]
  const end = start + 2 + (length ?? 0)
  if (der[start] !== INTEGER || !length || length > LONGEST_INTEGER || end > der.length) return undefined
  const digits = der.subarray(start + 2, end)
  const negative = digits[0]! >= 0x80
  const tooLarge = length === LONGEST_INTEGER && digits[0] !== 0
  if (negative || tooLarge) return undefined
  const value = new Uint8Array(32)
  const significant = length === LONGEST_INTEGER ? digits.subarray(1) : digits
  value.set(significant, 32 - significant.length)
  return { value, end }
}

/** Writes `r ‖ s` of a 256-bit curve as DER in its one strict form. */
export function encodeDerSignature(signature: Uint8Array): Bytes {
  const body = concatBytes(writeInteger(signature.subarray(0, 32)), writeInteger(signature.subarray(32)))
  return concatBytes(Uint8Array.of(SEQUENCE, body.length), body)
}

function writeInteger(value: Uint8Array): Bytes {
  const first = value.findIndex((byte) => byte !== 0)
  const digits = value.subarray(first < 0 ? value.length - 1 : first)
  const sign = digits[0]! >= 0x80 ? [0] : []
  return Uint8Array.of(INTEGER, sign.length + digits.length, ...sign, ...digits)
}
