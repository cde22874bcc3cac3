import { concatBytes, encodeBase58 } from '../encoding/index.ts'
import { sha256 } from './hash.ts'

/** Base58check: the bytes and the first four of their double SHA-256, in base58. @default alphabet bitcoin */
export function encodeBase58Check(bytes: Uint8Array, alphabet?: 'bitcoin' | 'ripple'): string {
  return encodeBase58(concatBytes(bytes, sha256(sha256(bytes)).subarray(0, 4)), alphabet)
}
