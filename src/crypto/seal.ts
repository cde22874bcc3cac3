import { createCipheriv, createDecipheriv, createSecretKey, KeyObject } from 'node:crypto'
import { type Bytes, concatBytes, encodeUtf8 } from '../encoding/index.ts'
import { CryptoError } from './error.ts'
import type { RandomBytes } from './random.ts'

// Sealed bytes: version (1) ‖ nonce (12) ‖ ciphertext ‖ tag (16). The version is authenticated together with `aad`.
const VERSION = 1
const KEY_LENGTH = 32
const NONCE_LENGTH = 12
const TAG_LENGTH = 16

/** A key to seal with: 32 bytes, or those bytes made ready once by `sealingKey`, which is four times as fast. */
export type SealingKey = Uint8Array | KeyObject

/** Makes a key ready that seals and opens many times; its bytes are then in no JavaScript memory but the caller's. */
export function sealingKey(key: Uint8Array): KeyObject {
  checkKey(key)
  return createSecretKey(key)
}

/**
 * Seals bytes with AES-256-GCM under a 32-byte key (NIST SP 800-38D). `aad` says where the sealed bytes belong, e.g.
 * table, row and column: they open nowhere else, so two sealed values cannot be swapped.
 */
export function seal(key: SealingKey, plain: Uint8Array, aad: Uint8Array | string, randomBytes: RandomBytes): Bytes {
  checkKey(key)
  const nonce = randomBytes(NONCE_LENGTH)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_LENGTH })
  cipher.setAAD(authenticated(aad))
  const body = concatBytes(cipher.update(plain), cipher.final())
  return concatBytes(Uint8Array.of(VERSION), nonce, body, cipher.getAuthTag())
}

/** Opens what `seal` made. Throws `CryptoError` for another key, another `aad`, or bytes that were changed. */
export function unseal(key: SealingKey, sealed: Uint8Array, aad: Uint8Array | string): Bytes {
  checkKey(key)
  if (sealed.length < 1 + NONCE_LENGTH + TAG_LENGTH) {
    throw new CryptoError(`expected at least ${1 + NONCE_LENGTH + TAG_LENGTH} sealed bytes, got ${sealed.length}`)
  }
  if (sealed[0] !== VERSION) throw new CryptoError(`expected sealed bytes of version ${VERSION}, got ${sealed[0]}`)
  const nonce = sealed.subarray(1, 1 + NONCE_LENGTH)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_LENGTH })
  decipher.setAAD(authenticated(aad))
  decipher.setAuthTag(sealed.subarray(-TAG_LENGTH))
  try {
    return concatBytes(decipher.update(sealed.subarray(1 + NONCE_LENGTH, -TAG_LENGTH)), decipher.final())
  } catch {
    throw new CryptoError(
      'sealed bytes do not open: they were sealed under another key or for another place, or changed',
    )
  }
}

function authenticated(aad: Uint8Array | string): Bytes {
  return concatBytes(Uint8Array.of(VERSION), typeof aad === 'string' ? encodeUtf8(aad) : aad)
}

function checkKey(key: SealingKey): void {
  const length = key instanceof KeyObject ? key.symmetricKeySize : key.length
  if (length !== KEY_LENGTH) throw new CryptoError(`expected \`key\` to be ${KEY_LENGTH} bytes, got ${length}`)
}
