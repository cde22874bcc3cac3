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
  const bare = text.replace(/={0,2}$/, '')
  if (!/^[A-Za-z0-9+/_-]*$/.test(bare) || bare.length % 4 === 1) {
    throw new EncodingError(`expected base64, got ${text.length} characters that are not`)
  }
  return new Uint8Array(Buffer.from(bare, 'base64url'))
}
