import type { RandomBytes } from './random.ts'

/** Makes a random UUID, version 4 (RFC 9562 §5.4). */
export function newUuid(randomBytes: RandomBytes): string {
  return formatUuid(randomBytes(16), 4)
}

/**
 * Makes a time-ordered UUID, version 7 (RFC 9562 §5.7): later milliseconds sort after earlier ones; ids of the same
 * millisecond are in no order.
 */
export function newTimeOrderedUuid(nowMs: number, randomBytes: RandomBytes): string {
  const bytes = new Uint8Array(16)
  for (let at = 5, rest = nowMs; at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256
  bytes.set(randomBytes(10), 6)
  return formatUuid(bytes, 7)
}

/** Every byte in hex: a request has several ids, and the platform's own encoder wants a buffer for each. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Writes version and variant (RFC 9562 §4) in place of the bits that are theirs. */
function formatUuid(bytes: Uint8Array, version: 4 | 7): string {
  let text = ''
  for (let at = 0; at < 16; at++) {
    const byte = bytes[at]!
    if (at === 4 || at === 6 || at === 8 || at === 10) text += '-'
    text += HEX[at === 6 ? (byte & 0x0f) | (version << 4) : at === 8 ? (byte & 0x3f) | 0x80 : byte]
  }
  return text
}
