import type { Bytes } from './bytes.ts'
import { EncodingError } from './error.ts'

/** Encodes bytes as lower-case hex without `0x`. */
export function encodeHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Whether the text is hex of whole bytes, with or without `0x`, in any case. */
export function isHex(text: string): boolean {
  return /^(?:0x)?(?:[0-9a-fA-F]{2})*$/.test(text)
}

/** Decodes hex of whole bytes; `0x` and either case are accepted. Throws `EncodingError`. */
export function decodeHex(text: string): Bytes {
  return new Uint8Array(viewHex(text))
}

/** As `decodeHex`, in memory that other bytes share: for bytes that are public and only read, at once. */
export function viewHex(text: string): Uint8Array {
  if (!isHex(text)) throw new EncodingError(`expected hex of whole bytes, got ${describe(text)}`)
  return Buffer.from(text.startsWith('0x') ? text.slice(2) : text, 'hex')
}

/** Says what is wrong without repeating the text, which may be a secret. */
function describe(text: string): string {
  const digits = text.startsWith('0x') ? text.slice(2) : text
  const bad = digits.search(/[^0-9a-fA-F]/)
  return bad < 0 ? `${digits.length} digits` : `a character that is no hex digit at ${bad}`
}
