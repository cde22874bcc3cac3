import { randomBytes as platformRandomBytes } from 'node:crypto'
import type { Bytes } from '../encoding/index.ts'

/** A source of unpredictable bytes; passed as an argument, so that tests may fix it. */
export type RandomBytes = (length: number) => Uint8Array

/** Draws bytes from the platform's cryptographic generator. */
export function randomBytes(length: number): Bytes {
  return new Uint8Array(platformRandomBytes(length))
}

/** What one draw of the platform's generator fills; ids and nonces take 10 to 16 bytes of it each. */
const POOL_BYTES = 4096
const POOLED_BYTES = 32

/**
 * Creates a source that draws small amounts from a block, since each draw from the platform costs far more than its
 * bytes. No byte is given twice, and what has been given is wiped from the block; anything longer is drawn by itself.
 */
export function createPooledRandomBytes(): RandomBytes {
  const pool = new Uint8Array(POOL_BYTES)
  let next = POOL_BYTES
  return (length) => {
    if (length > POOLED_BYTES) return randomBytes(length)
    if (next + length > POOL_BYTES) {
      pool.set(platformRandomBytes(POOL_BYTES))
      next = 0
    }
    const bytes = pool.slice(next, next + length)
    pool.fill(0, next, next + length)
    next += length
    return bytes
  }
}
