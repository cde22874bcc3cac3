import { secp256k1 as noble } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import { CryptoError, KEY_CURVES } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

const { secp256k1 } = KEY_CURVES

// docs/protocol/stamps.md#test-vectors
const PRIVATE_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const PUBLIC_KEY = '0235a5d602572338e4e6a2fa0b988d5694999ea2914d4da2bb76baa641a7cfbcf6'
const BODY = encodeUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}')

describe('secp256k1', () => {
  test('secp256k1: the public key of a private one is its compressed point', () => {
    expect(secp256k1.publicKeyOf(PRIVATE_KEY)).toBe(PUBLIC_KEY)
    expect(secp256k1.createSigner(PRIVATE_KEY).publicKey).toBe(PUBLIC_KEY)
  })

  for (const { name, key } of [
    { name: 'zero', key: '0'.repeat(64) },
    { name: 'the order of the curve', key: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141' },
    { name: 'a short key', key: PRIVATE_KEY.slice(2) },
  ]) {
    test(`secp256k1: ${name} is refused without repeating it`, () => {
      for (const use of [secp256k1.publicKeyOf, secp256k1.createSigner]) {
        expect(() => use(key)).toThrow(CryptoError)
        expect(() => use(key)).not.toThrow(key)
      }
    })
  }

  test('secp256k1: high and low s verify alike', () => {
    const both = Array.from({ length: 20 }, () => {
      const signature = noble.Signature.fromHex(secp256k1.createSigner(PRIVATE_KEY).sign(BODY), 'der')
      const other = new noble.Signature(signature.r, noble.Point.Fn.neg(signature.s))
      const claim = { publicKey: PUBLIC_KEY, body: BODY }
      return [signature, other].map((s) => secp256k1.verify({ ...claim, signatureHex: s.toHex('der') }))
    })
    expect(both).toEqual(both.map(() => [true, true]))
  })

  test('secp256k1: a point of P-256 is no key', () => {
    const { publicKey } = KEY_CURVES.p256.generateKeyPair()
    const signatureHex = secp256k1.createSigner(PRIVATE_KEY).sign(BODY)
    expect(secp256k1.verify({ publicKey, body: BODY, signatureHex })).toBe(false)
  })

  test('secp256k1: Wycheproof: all 476 cases come out as published', () => {
    const cases = readVectors<{
      readonly tcId: number
      readonly result: 'valid' | 'invalid'
      readonly publicKey: string
      readonly msg: string
      readonly sig: string
    }>('wycheproof/ecdsa-secp256k1-sha256.jsonl')
    expect(cases).toHaveLength(476)
    const wrong = cases.filter(
      ({ result, publicKey, msg, sig }) =>
        secp256k1.verify({ publicKey, body: decodeHex(msg), signatureHex: sig }) !== (result === 'valid'),
    )
    expect(wrong).toEqual([])
  })
})

test('curves: generated keys are pairs of the form of their curve', () => {
  for (const [curve, { generateKeyPair, publicKeyOf }] of Object.entries(KEY_CURVES)) {
    const pairs = Array.from({ length: 20 }, () => generateKeyPair())
    expect(new Set(pairs.map(({ privateKey }) => privateKey)).size).toBe(20)
    for (const { privateKey, publicKey } of pairs) {
      expect(privateKey).toMatch(/^[0-9a-f]{64}$/)
      expect(publicKey).toMatch(curve === 'ed25519' ? /^[0-9a-f]{64}$/ : /^0[23][0-9a-f]{64}$/)
      expect(publicKey).toBe(publicKeyOf(encodeHex(decodeHex(privateKey.toUpperCase()))))
    }
  }
})
