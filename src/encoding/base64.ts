import type { Bytes } from './bytes.ts'
import { EncodingError } from './error.ts'

/** Encodes bytes as base64url without padding (RFC 4648 §5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** Encodes bytes as base64 with padding (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Decodes base64 in either alphabet, with or without padding (docs/protocol/stamps.md#headers). Throws `EncodingError`. */
export function decodeBase64(text: string): Bytes {
  return new Uint8Array(viewBase64(text))
}

/** As `decodeBase64`, in memory that other bytes share: for bytes that are public and only read, at once. */
export function viewBase64(text: string): Uint8Array {
  const bare = text.endsWith('=') ? text.replace(/={0,2}$/, '') : text
  if (!/^[A-Za-z0-9+/_-]*$/.test(bare) || bare.length % 4 === 1) {
    throw new EncodingError(`expected base64, got ${text.length} characters that are not`)
  }
  return Buffer.from(bare, 'base64url')
}
