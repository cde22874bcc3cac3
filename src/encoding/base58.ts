import { base58, base58xrp } from '@scure/base'

/** The two orders in which the 58 characters are used. */
const ALPHABETS = { bitcoin: base58, ripple: base58xrp } as const

/** Encodes bytes as base58, without a checksum. @default alphabet bitcoin */
export function encodeBase58(bytes: Uint8Array, alphabet: keyof typeof ALPHABETS = 'bitcoin'): string {
  return ALPHABETS[alphabet].encode(bytes)
}
