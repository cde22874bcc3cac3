import { type Bytes, concatBytes, decodeBase58, encodeBase58 } from '../encoding/index.ts'
import { CryptoError } from './error.ts'
import { sha256 } from './hash.ts'

/** Base58check: the bytes and the first four of their double SHA-256, in base58. @default alphabet bitcoin */
export function encodeBase58Check(bytes: Uint8Array, alphabet?: 'bitcoin' | 'ripple'): string {
  return encodeBase58(concatBytes(bytes, sha256(sha256(bytes)).subarray(0, 4)), alphabet)
}

/** Longer than any private key is as text, in a message to a key. */
const MOST_CHARACTERS = 1_024

/** Reads base58check of up to 1,024 characters. Throws `EncodingError` for what is no base58, `CryptoError` where the checksum does not fit. */
export function decodeBase58Check(text: string): Bytes {
  const bytes = decodeBase58(text, MOST_CHARACTERS)
  const payload = bytes.slice(0, Math.max(0, bytes.length - 4))
  const checksum = sha256(sha256(payload)).subarray(0, 4)
  if (bytes.length < 4 || checksum.some((byte, at) => byte !== bytes[payload.length + at]))
    throw new CryptoError('the checksum does not fit')
  return payload
}
