/**
 * The envelope of QuorumOS, which clients seal an OAuth 2.0 client secret in (docs/protocol/bundles.md#oauth-20-client-secrets), and
 * which shares of quorum keys are sealed in: Borsh of a nonce, the sender's key for this message, and AES-256-GCM under a key that both P-256 keys agree on.
 */
import { createCipheriv, createDecipheriv, createECDH, createHmac } from 'node:crypto'
import { type Bytes, concatBytes, decodeHex, encodeUtf8 } from '../encoding/index.ts'
import { CryptoError } from './error.ts'
import { createP256KeyBytes, uncompressP256 } from './p256.ts'
import type { RandomBytes } from './random.ts'

const NONCE_LENGTH = 12
const POINT_LENGTH = 65
const LENGTH_LENGTH = 4
const TAG_LENGTH = 16
const HEAD_LENGTH = NONCE_LENGTH + POINT_LENGTH + LENGTH_LENGTH
const KEY_MESSAGE = encodeUtf8('qos_encryption_hmac_message')
/** Each key is authenticated with its length. */
const POINT_MARK = Uint8Array.of(POINT_LENGTH)

/**
 * Opens an envelope that was sealed to the public key (65 bytes) of a private one (32 bytes). Throws `CryptoError` for
 * another key, and for what is none or was changed.
 */
export function openEnvelope(
  { privateKey, publicKey }: { readonly privateKey: Uint8Array; readonly publicKey: Uint8Array },
  envelope: Uint8Array,
): Bytes {
  if (envelope.length < HEAD_LENGTH + TAG_LENGTH) throw new CryptoError('the envelope is too short')
  const nonce = envelope.subarray(0, NONCE_LENGTH)
  const sender = envelope.subarray(NONCE_LENGTH, NONCE_LENGTH + POINT_LENGTH)
  // The same point can be written as 06 or 07 (X9.62, hybrid); the key exchange would take either, so nothing else would notice.
  if (sender[0] !== 4) throw new CryptoError('the sender in the envelope is no uncompressed point of P-256')
  const message = envelope.subarray(HEAD_LENGTH)
  const length = new DataView(envelope.buffer, envelope.byteOffset + HEAD_LENGTH - LENGTH_LENGTH).getUint32(0, true)
  if (length !== message.length) throw new CryptoError('the length in the envelope is not its own')
  let shared: Uint8Array | undefined
  try {
    const ecdh = createECDH('prime256v1')
    ecdh.setPrivateKey(privateKey)
    shared = ecdh.computeSecret(sender)
    const key = messageKey(sender, publicKey, shared)
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_LENGTH })
    decipher.setAAD(concatBytes(sender, POINT_MARK, publicKey, POINT_MARK))
    decipher.setAuthTag(message.subarray(-TAG_LENGTH))
    return concatBytes(decipher.update(message.subarray(0, -TAG_LENGTH)), decipher.final())
  } catch {
    throw new CryptoError('the envelope does not open: it was sealed to another key, or changed')
  } finally {
    shared?.fill(0)
  }
}

/** Seals a message to a public key (65 bytes). Throws `CryptoError` where it is none. */
export function sealEnvelope(publicKey: Uint8Array, message: Uint8Array, randomBytes: RandomBytes): Bytes {
  const ephemeral = createP256KeyBytes(randomBytes)
  let shared: Uint8Array | undefined
  try {
    const sender = decodeHex(uncompressP256(ephemeral.publicKey)!)
    const ecdh = createECDH('prime256v1')
    ecdh.setPrivateKey(ephemeral.privateKey)
    shared = ecdh.computeSecret(publicKey)
    const nonce = randomBytes(NONCE_LENGTH)
    const cipher = createCipheriv('aes-256-gcm', messageKey(sender, publicKey, shared), nonce, {
      authTagLength: TAG_LENGTH,
    })
    cipher.setAAD(concatBytes(sender, POINT_MARK, publicKey, POINT_MARK))
    const sealed = concatBytes(cipher.update(message), cipher.final(), cipher.getAuthTag())
    const length = new Uint8Array(LENGTH_LENGTH)
    new DataView(length.buffer).setUint32(0, sealed.length, true)
    return concatBytes(nonce, sender, length, sealed)
  } catch {
    throw new CryptoError('the envelope cannot be sealed to what is no P-256 key')
  } finally {
    shared?.fill(0)
    ephemeral.privateKey.fill(0)
  }
}

function messageKey(sender: Uint8Array, receiver: Uint8Array, shared: Uint8Array): Uint8Array {
  return createHmac('sha512', concatBytes(sender, receiver, shared))
    .update(KEY_MESSAGE)
    .digest()
    .subarray(0, 32)
}
