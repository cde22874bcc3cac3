/** Addresses on Solana: keys, and addresses that programs have (Solana's documentation, "program derived addresses"). */
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '../crypto/index.ts'
import { concatBytes, decodeBase58, encodeBase58, encodeUtf8 } from '../encoding/index.ts'

/** Whether a text is an address on Solana, or a blockhash: 32 bytes in base58. */
export function isSolanaAddress(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && decodeBase58(text).length === 32
}

/** Whether an address is a point of the curve, so that somebody may have its key. Addresses of programs never are. */
export function isOnCurve(address: string): boolean {
  try {
    // As programs decode points (curve25519-dalek), which is what decides: also those that are written in a second way.
    ed25519.Point.fromBytes(decodeBase58(address), true)
    return true
  } catch {
    return false
  }
}

/** Derives the address that a program has for some seeds: of the counters from 255 down, the first that leads off the curve. */
export function programAddress(seeds: readonly Uint8Array[], program: string): string {
  const owner = [decodeBase58(program), encodeUtf8('ProgramDerivedAddress')]
  for (let bump = 255; bump >= 0; bump--) {
    const address = encodeBase58(sha256(concatBytes(...seeds, Uint8Array.of(bump), ...owner)))
    if (!isOnCurve(address)) return address
  }
  // Half of all hashes are off the curve.
  throw new Error('256 hashes in a row are on the curve')
}
