/** Codes that people read and type (docs/protocol/one-time-passcodes.md#codes). */
import { hmacSha256, type RandomBytes } from '../../../crypto/index.ts'
import { decodeHex, encodeHex, equalBytes } from '../../../encoding/index.ts'

/** Crockford's base 32: without the letters that are mistaken for digits, and without U. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const DIGITS = '0123456789'

/** Draws a code, every character with the same chance. */
export function drawCode(
  randomBytes: RandomBytes,
  { length, alphanumeric }: { readonly length: number; readonly alphanumeric: boolean },
): string {
  const alphabet = alphanumeric ? LETTERS : DIGITS
  // What is beyond a multiple of the alphabet would favour its beginning.
  const end = 256 - (256 % alphabet.length)
  let code = ''
  while (code.length < length) {
    const [byte] = randomBytes(1)
    if (byte! < end) code += alphabet[byte! % alphabet.length]
  }
  return code
}

/** A code as it may be typed: in any case, with the letters that people take for digits, with blanks and hyphens. */
function normalizeCode(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1')
}

/** Hashes a code by a key of its own: who has the database and not the master key cannot try codes out. */
export function hashCode(key: Uint8Array, code: string): string {
  return encodeHex(hmacSha256(key, normalizeCode(code)))
}

/** Whether it is the code, found out in a time that does not say how much of it is right. */
export function isCode(key: Uint8Array, codeHash: string, code: string): boolean {
  return equalBytes(decodeHex(hashCode(key, code)), decodeHex(codeHash))
}
