/**
 * Encryption to a key of secp256k1, in the form that Spark's operators read (docs/protocol/spark.md#building-blocks):
 * ephemeral public key, uncompressed (65) ‖ nonce (16) ‖ tag (16) ‖ ciphertext; AES-256-GCM under a key that HKDF-SHA256
 * makes of the ephemeral and the shared point.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { RandomBytes } from '../crypto/index.ts'
import { concatBytes } from '../encoding/index.ts'
import { SparkError } from './error.ts'
import { type Point, randomScalar, readPoint, readScalar, readUncompressedPoint, timesG } from './group.ts'

const POINT = 65
const NONCE = 16
const TAG = 16

/** Encrypts to a compressed public key. */
export function encryptTo(publicKey: Uint8Array, plain: Uint8Array, randomBytes: RandomBytes): Uint8Array {
  const recipient = readPoint(publicKey, 'publicKey')
  const ephemeral = randomScalar(randomBytes)
  const ephemeralPoint = timesG(ephemeral).toBytes(false)
  const nonce = randomBytes(NONCE)
  const key = encryptionKey(ephemeralPoint, recipient.multiply(ephemeral))
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG })
  const body = concatBytes(cipher.update(plain), cipher.final())
  return concatBytes(ephemeralPoint, nonce, cipher.getAuthTag(), body)
}

/** Opens what was encrypted to a private key's public key. Throws `SparkError` for what does not open. */
export function decryptWith(privateKey: Uint8Array, sealed: Uint8Array): Uint8Array {
  try {
    const ephemeralPoint = sealed.subarray(0, POINT)
    const nonce = sealed.subarray(POINT, POINT + NONCE)
    const shared = readUncompressedPoint(ephemeralPoint, 'ciphertext').multiply(readScalar(privateKey, 'privateKey'))
    const decipher = createDecipheriv('aes-256-gcm', encryptionKey(ephemeralPoint, shared), nonce, {
      authTagLength: TAG,
    })
    decipher.setAuthTag(sealed.subarray(POINT + NONCE, POINT + NONCE + TAG))
    return concatBytes(decipher.update(sealed.subarray(POINT + NONCE + TAG)), decipher.final())
  } catch {
    throw new SparkError('`ciphertext` does not open with the identity key')
  }
}

function encryptionKey(ephemeralPoint: Uint8Array, shared: Point): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', concatBytes(ephemeralPoint, shared.toBytes(false)), '', '', 32))
}
