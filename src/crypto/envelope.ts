/**
 * The envelope that clients seal an OAuth 2.0 client secret in (docs/protocol/bundles.md#oauth-20-client-secrets): Borsh of a
 * nonce, the sender's key for this message, and AES-256-GCM under a key that both P-256 keys agree on.
 */
import { createDecipheriv, createECDH, createHmac } from 'node:crypto'
import { type Bytes, concatBytes, encodeUtf8 } from '../encoding/index.ts'
import { CryptoError } from './error.ts'

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
  const message = envelope.subarray(HEAD_LENGTH)
  const length = new DataView(envelope.buffer, envelope.byteOffset + HEAD_LENGTH - LENGTH_LENGTH).getUint32(0, true)
  if (length !== message.length) throw new CryptoError('the length in the envelope is not its own')
  let shared: Uint8Array | undefined
  try {
    const ecdh = createECDH('prime256v1')
    ecdh.setPrivateKey(privateKey)
    shared = ecdh.computeSecret(sender)
    const key = createHmac('sha512', concatBytes(sender, publicKey, shared))
      .update(KEY_MESSAGE)
      .digest()
      .subarray(0, 32)
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
