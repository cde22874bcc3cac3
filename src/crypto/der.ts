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
  const secondInteger = startOfSecond(der)
  if (secondInteger < 0) return undefined
  const value = new Uint8Array(64)
  putInteger(value, 32, digitsOf(der, 2))
  putInteger(value, 64, digitsOf(der, secondInteger))
  return value
}

/**
 * Brings a signature that `parseDerSignature` reads into the one strict form, which the platform wants: nearly every one
 * is in it already, and then it is given back as it is.
 */
export function strictDerSignature(der: Uint8Array): Uint8Array | undefined {
  const secondInteger = startOfSecond(der)
  if (secondInteger < 0) return undefined
  if (isShortest(der, 2) && isShortest(der, secondInteger)) return der
  return encodeDerSignature(parseDerSignature(der)!)
}

/** Where the second of the two integers of a signature begins; -1 for what is none. */
function startOfSecond(der: Uint8Array): number {
  if (der.length < 2 || der[0] !== SEQUENCE || der[1] !== der.length - 2) return -1
  const second = endOfInteger(der, 2)
  return second > 0 && endOfInteger(der, second) === der.length ? second : -1
}

/** Whether the integer at this place has no zero more than keeps it positive. */
function isShortest(der: Uint8Array, start: number): boolean {
  return der[start + 1] === 1 || der[start + 2] !== 0 || der[start + 3]! >= 0x80
}

/** Where the integer that begins here ends; -1 for what is none of 256 bits. */
function endOfInteger(der: Uint8Array, start: number): number {
  const length = der[start + 1]
  const end = start + 2 + (length ?? 0)
  if (der[start] !== INTEGER || !length || length > LONGEST_INTEGER || end > der.length) return -1
  const first = der[start + 2]!
  const negative = first >= 0x80
  const tooLarge = length === LONGEST_INTEGER && first !== 0
  return negative || tooLarge ? -1 : end
}

/** At most 32 bytes of an integer: the longest has a zero before them. */
function digitsOf(der: Uint8Array, start: number): Uint8Array {
  const end = start + 2 + der[start + 1]!
  return der.subarray(Math.max(start + 2, end - 32), end)
}

function putInteger(value: Uint8Array, end: number, digits: Uint8Array): void {
  value.set(digits, end - digits.length)
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
