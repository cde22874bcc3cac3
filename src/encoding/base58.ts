import { base58, base58xrp } from '@scure/base'
import type { Bytes } from './bytes.ts'
import { EncodingError } from './error.ts'

/** The two orders in which the 58 characters are used. */
const ALPHABETS = { bitcoin: base58, ripple: base58xrp } as const

/** Encodes bytes as base58, without a checksum. @default alphabet bitcoin */
export function encodeBase58(bytes: Uint8Array, alphabet: keyof typeof ALPHABETS = 'bitcoin'): string {
  return ALPHABETS[alphabet].encode(bytes)
}

/** The longest text that is decoded, unless more is asked for: the time that decoding takes grows with the square of the length. */
const MAX_CHARACTERS = 128

/** Decodes base58 in Bitcoin's alphabet, of up to so many characters. Throws `EncodingError`. @default most 128 */
export function decodeBase58(text: string, most = MAX_CHARACTERS): Bytes {
  if (text.length > most || !/^[1-9A-HJ-NP-Za-km-z]*$/.test(text)) {
    throw new EncodingError(`expected base58, got ${text.length} characters that are not`)
  }
  return new Uint8Array(base58.decode(text))
}
