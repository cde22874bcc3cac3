import { p256 } from '@noble/curves/nist.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { type Bytes, concatBytes } from '../encoding/index.ts'

/** A signature of a 256-bit curve in two halves of 32 bytes. */
export interface SignatureHalves {
  readonly r: Bytes
  readonly s: Bytes
  /** Which of the possible public keys made it (SEC 1 §4.1.6): the parity of R's y. 0 where there is nothing to recover. */
  readonly recovery: number
}

const DIGEST_LENGTH = 32
/** Each curve is made when it is first used: that takes as long as reading a folder. */
const ECDSA = { secp256k1: () => secp256k1, p256: () => p256 }

/**
 * Signs a 32-byte digest by ECDSA: the nonce is that of RFC 6979 with HMAC-SHA256, so one digest has one signature, and
 * `s` is the lower of its two values, as chains require. The platform signs faster, with nonces of its own choosing.
 */
export function signEcdsaDigest(
  curve: keyof typeof ECDSA,
  digest: Uint8Array,
  privateKey: Uint8Array,
): SignatureHalves {
  checkDigest(digest)
  const bytes = ECDSA[curve]().sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' })
  return { r: bytes.slice(1, 33), s: bytes.slice(33), recovery: bytes[0]! }
}

/** Finds the compressed key of secp256k1 that has signed a 32-byte digest; undefined where there is none. */
export function recoverSecp256k1(digest: Uint8Array, { r, s, recovery }: SignatureHalves): Bytes | undefined {
  checkDigest(digest)
  try {
    const signature = concatBytes(Uint8Array.of(recovery), r, s)
    return new Uint8Array(secp256k1.recoverPublicKey(signature, digest, { prehash: false }))
  } catch {
    return undefined
  }
}

/** Signs 32 bytes by BIP-340. The auxiliary randomness is 32 zeros, which the standard allows: one digest, one signature. */
export function signSchnorrDigest(digest: Uint8Array, privateKey: Uint8Array): SignatureHalves {
  checkDigest(digest)
  return inHalves(schnorr.sign(digest, privateKey, new Uint8Array(DIGEST_LENGTH)))
}

/** Splits 64 bytes, `r ‖ s`. */
export function inHalves(signature: Uint8Array): SignatureHalves {
  return { r: new Uint8Array(signature.slice(0, 32)), s: new Uint8Array(signature.slice(32)), recovery: 0 }
}

function checkDigest(digest: Uint8Array): void {
  if (digest.length !== DIGEST_LENGTH) throw new TypeError(`expected \`digest\` to be 32 bytes, got ${digest.length}`)
}
