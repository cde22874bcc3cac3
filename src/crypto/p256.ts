import { createECDH, createPrivateKey, ECDH, sign } from 'node:crypto'
import { type Bytes, decodeHex, encodeHex } from '../encoding/index.ts'
import { encodeDerSignature, parseDerSignature } from './der.ts'
import { createEcdsaVerifiers, type EcdsaCurve, ecdsaOver } from './ecdsa.ts'
import type { RandomBytes } from './random.ts'
import type { KeyPair, Signer, Verify } from './signer.ts'

const CURVE: EcdsaCurve = { name: 'P-256', openssl: 'prime256v1' }
export const p256 = ecdsaOver(CURVE)

/** Makes a P-256 key pair from the platform's randomness. */
export const generateP256KeyPair: () => KeyPair = p256.generateKeyPair

/** Computes the compressed public key of a private one. Throws `CryptoError` if it is no scalar in [1, n−1]. */
export const p256PublicKey: (privateKeyHex: string) => string = p256.publicKeyOf

/** Creates a signer of ECDSA P-256 over SHA-256. Throws `CryptoError` if the private key is none. */
export const createP256Signer: (privateKeyHex: string) => Signer = p256.createSigner

/** Verifies ECDSA P-256 over SHA-256 of the body, high `s` and redundant zeros included. */
export const verifyP256: Verify = p256.verify

/**
 * Creates a verifier with a memo of its own.
 * @default capacity 4096 keys, about 4 MB
 */
export function createP256Verifier(options: { readonly capacity?: number } = {}): Verify {
  return createEcdsaVerifiers(CURVE, options).verify
}

/** Signs by ECDSA P-256 over SHA-256 in the form of ES256 (RFC 7518 §3.4): `r ‖ s`, 64 bytes. */
export function signEs256(privateKeyHex: string, body: Uint8Array): Bytes {
  return parseDerSignature(decodeHex(createP256Signer(privateKeyHex).sign(body)))!
}

/** Verifies a signature of ES256 by a key in hex, compressed or not; false for what is none of 64 bytes. */
export function verifyEs256(publicKeyHex: string, body: Uint8Array, signature: Uint8Array): boolean {
  const publicKey = compressP256(publicKeyHex)
  if (publicKey === undefined || signature.length !== 64) return false
  return verifyP256({ publicKey, body, signatureHex: encodeHex(encodeDerSignature(signature)) })
}

/** Writes a P-256 public key (hex, compressed or not) in its 33 bytes, lower-case hex; nothing if it is none. */
export function compressP256(publicKeyHex: string): string | undefined {
  const point = uncompressP256(publicKeyHex)
  return point && (ECDH.convertKey(point, CURVE.openssl, 'hex', 'hex', 'compressed') as string)
}

/** A key pair whose private half can be wiped: no text of it is made. */
export interface KeyPairInBytes {
  readonly privateKey: Uint8Array
  /** Lower-case hex, compressed. */
  readonly publicKey: string
}

/** Makes a P-256 key pair from the given randomness; the private half is the caller's to wipe. */
export function createP256KeyBytes(randomBytes: RandomBytes): KeyPairInBytes {
  for (;;) {
    const privateKey = randomBytes(32)
    const ecdh = createECDH(CURVE.openssl)
    try {
      ecdh.setPrivateKey(privateKey)
      return { privateKey, publicKey: ecdh.getPublicKey('hex', 'compressed') }
    } catch {
      // One in 2^32 draws lies outside of the curve's range (FIPS 186-5 A.2.2): draw again.
    }
  }
}

/** Writes a P-256 public key (hex, compressed or not) as its 65 bytes `04 ‖ x ‖ y` in hex; nothing if it is none. */
export function uncompressP256(publicKeyHex: string): string | undefined {
  if (!/^(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(publicKeyHex)) return undefined
  try {
    return ECDH.convertKey(publicKeyHex, CURVE.openssl, 'hex', 'hex', 'uncompressed') as string
  } catch {
    return undefined // not a point of the curve
  }
}

/** PKCS #8 (RFC 5958) of a P-256 key up to its 32 bytes, without the public half. */
const PKCS8_HEAD = Buffer.from('3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420', 'hex')

/**
 * Signs once with a key that is wiped after it: ECDSA P-256 over SHA-256, DER in hex. No copy of the key is left but the
 * platform's own, which it clears when it lets go of it. Throws if the bytes are no key.
 */
export function signP256AndWipe(privateKey: Uint8Array, body: Uint8Array): string {
  const der = Buffer.concat([PKCS8_HEAD, privateKey])
  try {
    return sign('sha256', body, createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).toString('hex')
  } finally {
    der.fill(0)
    privateKey.fill(0)
  }
}
