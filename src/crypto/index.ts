/**
 * Crypto: hashes, keys and signatures on the curves of API keys and passkeys, sealing, ids and randomness, each over the
 * platform's own code where it has it and over noble's where not. Knows no protocol and no storage: what is signed and
 * who may sign is decided elsewhere.
 * Relies on `node:crypto`, so workflows must not reach it.
 */

export { decodeBase58Check, encodeBase58Check } from './base58check.ts'
export { type Cbor, type CborKey, decodeCbor, readCbor } from './cbor.ts'
export { type CoseAlgorithm, type CoseKey, parseCoseKey } from './cose.ts'
export { encodeDerSignature, parseDerSignature } from './der.ts'
export { signEd25519 } from './ed25519.ts'
export { createEip191Signer, eip191Digest, verifyEip191 } from './eip191.ts'
export { openEnvelope, sealEnvelope } from './envelope.ts'
export { CryptoError } from './error.ts'
export { hmacSha256, keccak256, sha256 } from './hash.ts'
export { type HpkeMessage, hpkeOpen, hpkeSeal } from './hpke.ts'
export { isKeyCurve, KEY_CURVES, type KeyCurve } from './key-curves.ts'
export {
  compressP256,
  createP256KeyBytes,
  createP256Signer,
  createP256Verifier,
  generateP256KeyPair,
  type KeyPairInBytes,
  p256PublicKey,
  signEs256,
  signP256AndWipe,
  uncompressP256,
  verifyEs256,
  verifyP256,
} from './p256.ts'
export { createPooledRandomBytes, type RandomBytes, randomBytes } from './random.ts'
export { type SealingKey, seal, sealingKey, unseal } from './seal.ts'
export { compressSecp256k1 } from './secp256k1.ts'
export { combineShares, splitSecret } from './shamir.ts'
export { inHalves, recoverSecp256k1, type SignatureHalves, signEcdsaDigest, signSchnorrDigest } from './sign-digest.ts'
export type { CurveOperations, KeyPair, SignatureClaim, Signer, Verify, VerifyInPool } from './signer.ts'
export { newTimeOrderedUuid, newUuid } from './uuid.ts'
