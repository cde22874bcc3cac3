import { createHmac, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Bytes, encodeUtf8 } from '../encoding/index.ts'

/** Hashes bytes, or text as UTF-8, with SHA-256. */
export function sha256(data: Uint8Array | string): Bytes {
  return new Uint8Array(hash('sha256', data, 'buffer'))
}

/** Hashes text as UTF-8 with HMAC-SHA-256. */
export function hmacSha256(key: Uint8Array, text: string): Bytes {
  return new Uint8Array(createHmac('sha256', key).update(text).digest())
}

/** Hashes bytes, or text as UTF-8, with Keccak-256 (the original padding that Ethereum uses, not SHA3-256). */
export function keccak256(data: Uint8Array | string): Bytes {
  return new Uint8Array(keccak_256(typeof data === 'string' ? encodeUtf8(data) : data))
}
