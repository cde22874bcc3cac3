/**
 * Crypto: hashes, P-256 keys and signatures, sealing, ids and randomness, each over the platform's own code where it has
 * it and over noble's where not. Knows no protocol and no storage: what is signed and who may sign is decided elsewhere.
 * Relies on `node:crypto`, so workflows must not reach it.
 */

export { CryptoError } from './error.ts'
export { keccak256, sha256 } from './hash.ts'
export {
  createP256Signer,
  createP256Verifier,
  generateP256KeyPair,
  type P256Claim,
  type P256KeyPair,
  type P256Signer,
  p256PublicKey,
  verifyP256,
} from './p256.ts'
export { type RandomBytes, randomBytes } from './random.ts'
export { seal, unseal } from './seal.ts'
export { newTimeOrderedUuid, newUuid } from './uuid.ts'
