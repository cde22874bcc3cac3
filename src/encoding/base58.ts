import { base58, base58xrp } from '@scure/base'
import type { Bytes } from './bytes.ts'
import { EncodingError } from './error.ts'

/** Encodes bytes as base58, without a checksum, with its characters in one of two orders. @default alphabet bitcoin */
export function encodeBase58(bytes: Uint8Array, alphabet: 'bitcoin' | 'ripple' = 'bitcoin'): string {
  return (alphabet === 'ripple' ? base58xrp : base58).encode(bytes)
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
