import { type KeyObject, verify } from 'node:crypto'
import type { SignatureClaim, Verify, VerifyInPool } from './signer.ts'

/** A well-formed claim as the platform is asked about it. */
export interface PlatformCheck {
  /** The hash of ECDSA; Ed25519 has its own. */
  readonly algorithm: 'sha256' | null
  readonly key: KeyObject
  readonly signature: Uint8Array
}

/** Both ways to verify from the reading of a claim, which gives nothing for a malformed one. */
export function verifiersOver(read: (claim: SignatureClaim) => PlatformCheck | undefined): {
  readonly verify: Verify
  readonly verifyInPool: VerifyInPool
} {
  return {
    verify(claim) {
      const check = read(claim)
      return check !== undefined && verify(check.algorithm, claim.body, check.key, check.signature)
    },
    verifyInPool(claim) {
      const check = read(claim)
      if (!check) return Promise.resolve(false)
      return new Promise((resolve, reject) => {
        verify(check.algorithm, claim.body, check.key, check.signature, (error, holds) =>
          error ? reject(error) : resolve(holds),
        )
      })
    },
  }
}
