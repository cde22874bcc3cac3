import { encodeHex } from '../encoding/index.ts'
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
  const view = new DataView(bytes.buffer)
  view.setUint16(0, Math.floor(nowMs / 2 ** 32))
  view.setUint32(2, nowMs % 2 ** 32)
  bytes.set(randomBytes(10), 6)
  return formatUuid(bytes, 7)
}

/** Writes version and variant (RFC 9562 §4) over the bits that are theirs. */
function formatUuid(source: Uint8Array, version: 4 | 7): string {
  const bytes = Uint8Array.from(source)
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = encodeHex(bytes)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
