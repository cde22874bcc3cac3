/**
 * HPKE (RFC 9180) as the API's bundles use it: base mode, one message, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
 * Both public keys are authenticated with the message (RFC 9180; docs/protocol/bundles.md#encryption).
 */
import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core'
import { type Bytes, concatBytes, encodeUtf8 } from '../encoding/index.ts'
import { CryptoError } from './error.ts'
import type { RandomBytes } from './random.ts'

/** One message to one key. */
export interface HpkeMessage {
  /** 65 bytes: the uncompressed point of the sender's key for this message. */
  readonly encappedPublic: Bytes
  /** The message and a tag of 16 bytes. */
  readonly ciphertext: Bytes
}

/** KEM 0x0010, KDF 0x0001, AEAD 0x0002. */
export const HPKE_SUITE = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
})
const INFO = encodeUtf8('turnkey_hpke').buffer
const POINT_LENGTH = 65

/** Encrypts bytes to a P-256 public key of 65 bytes. Throws `CryptoError` if it is none. */
export async function hpkeSeal(
  publicKey: Uint8Array,
  plain: Uint8Array,
  randomBytes: RandomBytes,
): Promise<HpkeMessage> {
  const recipient = await importPublicKey(publicKey)
  // The key of this message is derived from the caller's randomness (RFC 9180 §7.1.3): one source for all that is random.
  const ekm = bufferOf(randomBytes(32))
  const sender = await HPKE_SUITE.createSenderContext({ recipientPublicKey: recipient, info: INFO, ekm })
  const encappedPublic = new Uint8Array(sender.enc)
  const aad = concatBytes(encappedPublic, publicKey).buffer
  const ciphertext = await withCopy(plain, (copy) => sender.seal(copy, aad))
  return { encappedPublic, ciphertext: new Uint8Array(ciphertext) }
}

/**
 * Decrypts what was sealed to the public key (65 bytes) of a private one (32 bytes). Throws `CryptoError` for another key,
 * and for a message that was changed.
 */
export async function hpkeOpen(
  { privateKey, publicKey }: { readonly privateKey: Uint8Array; readonly publicKey: Uint8Array },
  { encappedPublic, ciphertext }: HpkeMessage,
): Promise<Bytes> {
  const recipientKey = await withCopy(privateKey, (copy) => HPKE_SUITE.kem.importKey('raw', copy, false))
  try {
    const recipient = await HPKE_SUITE.createRecipientContext({
      recipientKey,
      enc: bufferOf(encappedPublic),
      info: INFO,
    })
    const plain = await recipient.open(bufferOf(ciphertext), concatBytes(encappedPublic, publicKey).buffer)
    return new Uint8Array(plain)
  } catch (cause) {
    throw new CryptoError('the message does not open: it was encrypted to another key, or changed', { cause })
  }
}

async function importPublicKey(publicKey: Uint8Array) {
  if (publicKey.length !== POINT_LENGTH || publicKey[0] !== 4) {
    throw new CryptoError(`expected a P-256 public key of ${POINT_LENGTH} bytes, got ${publicKey.length}`)
  }
  try {
    return await HPKE_SUITE.kem.deserializePublicKey(bufferOf(publicKey))
  } catch (cause) {
    throw new CryptoError('expected a point of P-256, got none', { cause })
  }
}

/** Hands out a buffer of secret bytes, and wipes it. */
async function withCopy<Result>(secret: Uint8Array, use: (copy: ArrayBuffer) => Promise<Result>): Promise<Result> {
  const copy = new Uint8Array(secret)
  try {
    return await use(copy.buffer)
  } finally {
    copy.fill(0)
  }
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
