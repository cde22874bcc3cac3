import { base32nopad } from '@scure/base'

/** Encodes bytes as base32 without padding, upper case (RFC 4648 §6). */
export function encodeBase32(bytes: Uint8Array): string {
  return base32nopad.encode(bytes)
}
