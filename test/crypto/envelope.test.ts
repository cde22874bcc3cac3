import { createCipheriv, createECDH, createHmac } from 'node:crypto'
import { encryptOauth2ClientSecret } from '@turnkey/crypto'
import { describe, expect, test } from 'vitest'
import {
  CryptoError,
  generateP256KeyPair,
  openEnvelope,
  randomBytes,
  sealEnvelope,
  uncompressP256,
} from '../../src/crypto/index.ts'
import { decodeHex, decodeUtf8, encodeUtf8 } from '../../src/encoding/index.ts'

function newKey() {
  const { privateKey, publicKey } = generateP256KeyPair()
  return { privateKey: decodeHex(privateKey), publicKey: decodeHex(uncompressP256(publicKey)!) }
}

describe('envelope', () => {
  test('envelope: what the published client seals is opened, whatever its length', async () => {
    const key = newKey()
    for (const secret of ['', 's', 'ü'.repeat(500)]) {
      const sealed = await encryptOauth2ClientSecret(secret, Buffer.from(key.publicKey).toString('hex'))
      expect(decodeUtf8(openEnvelope(key, decodeHex(sealed)))).toBe(secret)
    }
  })

  test('envelope: another key, any changed byte, and every shorter text are refused', async () => {
    const key = newKey()
    const sealed = decodeHex(await encryptOauth2ClientSecret('secret', Buffer.from(key.publicKey).toString('hex')))
    expect(() => openEnvelope(newKey(), sealed)).toThrow(CryptoError)
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte))
      expect(() => openEnvelope(key, changed), `byte ${at}`).toThrow(CryptoError)
      expect(() => openEnvelope(key, sealed.subarray(0, at)), `length ${at}`).toThrow(CryptoError)
    }
  })

  test('envelope: a sender whose point is written in another form is refused, although the key exchange would take it', () => {
    const key = newKey()
    const ecdh = createECDH('prime256v1')
    ecdh.generateKeys()
    const sealAs = (sender: Uint8Array) => {
      const nonce = randomBytes(12)
      const shared = ecdh.computeSecret(key.publicKey)
      const hmac = createHmac('sha512', Buffer.concat([sender, key.publicKey, shared]))
      const messageKey = hmac.update('qos_encryption_hmac_message').digest().subarray(0, 32)
      const cipher = createCipheriv('aes-256-gcm', messageKey, nonce)
      const mark = Buffer.of(65)
      cipher.setAAD(Buffer.concat([sender, mark, key.publicKey, mark]))
      const sealed = Buffer.concat([cipher.update('secret'), cipher.final(), cipher.getAuthTag()])
      const length = Buffer.alloc(4)
      length.writeUInt32LE(sealed.length)
      return Buffer.concat([nonce, sender, length, sealed])
    }
    expect(decodeUtf8(openEnvelope(key, sealAs(ecdh.getPublicKey())))).toBe('secret')
    expect(() => openEnvelope(key, sealAs(ecdh.getPublicKey(null, 'hybrid')))).toThrow(CryptoError)
  })

  test('envelope: what is sealed here is opened by the key that it was sealed to alone, and never the same twice', () => {
    const key = newKey()
    for (const secret of ['', 's', 'ü'.repeat(500)]) {
      const [one, two] = [0, 1].map(() => sealEnvelope(key.publicKey, encodeUtf8(secret), randomBytes))
      expect(decodeUtf8(openEnvelope(key, one!))).toBe(secret)
      expect(one).not.toEqual(two)
      expect(() => openEnvelope(newKey(), one!)).toThrow(CryptoError)
    }
    expect(() => sealEnvelope(new Uint8Array(65), encodeUtf8('s'), randomBytes)).toThrow(CryptoError)
  })
})
