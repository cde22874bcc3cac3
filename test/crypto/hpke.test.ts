import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hpkeDecrypt, hpkeEncrypt, generateP256KeyPair as publishedKeyPair } from '@turnkey/crypto'
import { describe, expect, test } from 'vitest'
import { HPKE_SUITE } from '../../src/crypto/hpke.ts'
import {
  CryptoError,
  generateP256KeyPair,
  hpkeOpen,
  hpkeSeal,
  randomBytes,
  uncompressP256,
} from '../../src/crypto/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

const FILE = 'rfc9180/p256-sha256-aes256gcm-base.jsonl'
const bytes = (hex: string) => decodeHex(hex).buffer

function newKey() {
  const { privateKey, publicKey } = generateP256KeyPair()
  return { privateKey: decodeHex(privateKey), publicKey: decodeHex(uncompressP256(publicKey)!) }
}

describe('HPKE', () => {
  test('HPKE: RFC 9180: all 257 messages of the published context open', async () => {
    const cases = readVectors<{ readonly aad: string; readonly pt: string; readonly ct: string }>(FILE)
    expect(cases).toHaveLength(257)
    const [head = ''] = readFileSync(join(import.meta.dirname, '../vectors', FILE), 'utf8').split('\n')
    const { info, skRm, enc } = JSON.parse(head) as {
      readonly info: string
      readonly skRm: string
      readonly enc: string
    }
    const recipientKey = await HPKE_SUITE.kem.importKey('raw', bytes(skRm), false)
    const recipient = await HPKE_SUITE.createRecipientContext({ recipientKey, enc: bytes(enc), info: bytes(info) })
    for (const { aad, pt, ct } of cases) {
      expect(encodeHex(new Uint8Array(await recipient.open(bytes(ct), bytes(aad))))).toBe(pt)
    }
  })

  test('HPKE: what is sealed opens, and is new each time', async () => {
    const key = newKey()
    const [one, two] = [
      await hpkeSeal(key.publicKey, encodeUtf8('words'), randomBytes),
      await hpkeSeal(key.publicKey, encodeUtf8('words'), randomBytes),
    ]
    expect(one).not.toEqual(two)
    expect(one.encappedPublic).toHaveLength(65)
    expect(await hpkeOpen(key, one)).toEqual(encodeUtf8('words'))
  })

  test('HPKE: the published library opens what is sealed here, and the other way round', async () => {
    const theirs = publishedKeyPair()
    const sealed = await hpkeSeal(decodeHex(theirs.publicKeyUncompressed), encodeUtf8('out'), randomBytes)
    const opened = hpkeDecrypt({
      ciphertextBuf: sealed.ciphertext,
      encappedKeyBuf: sealed.encappedPublic,
      receiverPriv: theirs.privateKey,
    })
    expect(new Uint8Array(opened)).toEqual(encodeUtf8('out'))
    const ours = newKey()
    const message = hpkeEncrypt({ plainTextBuf: encodeUtf8('in'), targetKeyBuf: ours.publicKey })
    const encappedPublic = decodeHex(uncompressP256(encodeHex(message.slice(0, 33)))!)
    const ciphertext = new Uint8Array(message.slice(33))
    expect(await hpkeOpen(ours, { encappedPublic, ciphertext })).toEqual(encodeUtf8('in'))
  })

  test('HPKE: another key, and any bit that is changed, open nothing', async () => {
    const key = newKey()
    const sealed = await hpkeSeal(key.publicKey, encodeUtf8('words'), randomBytes)
    await expect(hpkeOpen(newKey(), sealed)).rejects.toThrow(CryptoError)
    for (let index = 0; index < sealed.ciphertext.length; index++) {
      const ciphertext = sealed.ciphertext.slice()
      ciphertext[index]! ^= 1
      await expect(hpkeOpen(key, { ...sealed, ciphertext })).rejects.toThrow(CryptoError)
    }
  })

  test.each(['04', '05', '02'])('HPKE: 65 bytes that begin with %s and are no point are no key', async (first) => {
    const key = decodeHex(`${first}${'11'.repeat(64)}`)
    await expect(hpkeSeal(key, new Uint8Array(1), randomBytes)).rejects.toThrow(CryptoError)
  })
})
