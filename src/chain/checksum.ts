import { ripemd160 } from '@noble/hashes/legacy.js'
import { encodeBase58Check, sha256 } from '../crypto/index.ts'
import { concatBytes } from '../encoding/index.ts'

/** RIPEMD-160 of SHA-256: what most addresses show of a public key. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes))
}

/** Base58check behind a version byte. */
export function encodeVersioned(version: number, payload: Uint8Array, alphabet?: 'bitcoin' | 'ripple'): string {
  return encodeBase58Check(concatBytes(Uint8Array.of(version), payload), alphabet)
}

/** CRC-16/XMODEM: polynomial 0x1021, start 0. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc
}
