import { p256 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CryptoError,
  createP256Signer,
  createP256Verifier,
  generateP256KeyPair,
  p256PublicKey,
  verifyP256,
} from '../../src/crypto/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

// docs/protocol/stamps.md#test-vectors
const PRIVATE_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const PUBLIC_KEY = '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb'
const BODY = encodeUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}')
const R = '786e48a87a92fa9a2de5553608b1f380748f7e664789a52dc24f42400bc6dafc'
const S = '620fca1a7f5d505304840b120c89b479cdac3495280a59cc94eb3190b5053b77'
const SIGNATURE = `30440220${R}0220${S}`

const accepts = (signatureHex: string, publicKey = PUBLIC_KEY) => verifyP256({ publicKey, body: BODY, signatureHex })

/** DER of two integers given as hex, with whatever zeros they have. */
function der(r: string, s: string): string {
  const integer = (hex: string) => `02${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`
  const body = integer(r) + integer(s)
  return `30${(body.length / 2).toString(16).padStart(2, '0')}${body}`
}

describe('keys', () => {
  test('p256: the public key of a private one is its compressed point', () => {
    expect(p256PublicKey(PRIVATE_KEY)).toBe(PUBLIC_KEY)
    expect(createP256Signer(PRIVATE_KEY.toUpperCase()).publicKey).toBe(PUBLIC_KEY)
  })

  test('p256: a private key with leading zeros keeps its 64 digits', () => {
    const one = `${'0'.repeat(63)}1`
    expect(p256PublicKey(one)).toBe('036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296')
  })

  test('p256: generated keys are different, whole, and a pair', () => {
    const pairs = Array.from({ length: 50 }, () => generateP256KeyPair())
    expect(new Set(pairs.map(({ privateKey }) => privateKey)).size).toBe(50)
    for (const { privateKey, publicKey } of pairs) {
      expect(privateKey).toMatch(/^[0-9a-f]{64}$/)
      expect(publicKey).toBe(p256PublicKey(privateKey))
    }
  })

  const n = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'
  for (const { name, key } of [
    { name: 'zero', key: '0'.repeat(64) },
    { name: 'the order of the curve', key: n },
    { name: 'a key that is too short', key: PRIVATE_KEY.slice(2) },
    { name: 'text that is no hex', key: 'z'.repeat(64) },
    { name: 'a key with 0x', key: `0x${PRIVATE_KEY}` },
  ]) {
    test(`p256: ${name} is refused without repeating it`, () => {
      for (const use of [p256PublicKey, createP256Signer]) {
        expect(() => use(key)).toThrow(CryptoError)
        expect(() => use(key)).not.toThrow(key)
      }
    })
  }
})

describe('signatures', () => {
  test('p256: the published signature verifies, under its key in either case', () => {
    expect(accepts(SIGNATURE)).toBe(true)
    expect(accepts(SIGNATURE.toUpperCase(), PUBLIC_KEY.toUpperCase())).toBe(true)
  })

  test('p256: what the signer makes verifies here and with an independent implementation', () => {
    const signer = createP256Signer(PRIVATE_KEY)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (body) => {
        const signatureHex = signer.sign(body)
        const independent = p256.verify(decodeHex(signatureHex), body, decodeHex(PUBLIC_KEY), {
          format: 'der',
          lowS: false,
        })
        return independent && verifyP256({ publicKey: PUBLIC_KEY, body, signatureHex })
      }),
    )
  })

  test('p256: nothing one bit away from a good signature verifies', () => {
    const bytes = decodeHex(SIGNATURE)
    const accepted: number[] = []
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Uint8Array.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      if (accepts(encodeHex(changed))) accepted.push(bit)
    }
    expect(accepted).toEqual([])
  })

  test('p256: a high s verifies as the low one does', () => {
    const high = p256.Point.Fn.neg(BigInt(`0x${S}`))
      .toString(16)
      .padStart(64, '0')
    expect(accepts(der(R, `00${high}`))).toBe(true)
  })

  const negative = `ff${R.slice(2)}`
  for (const { name, signature, expected } of [
    { name: 'a redundant leading zero before r', signature: der(`00${R}`, S), expected: true },
    { name: 'a redundant leading zero before both', signature: der(`00${R}`, `00${S}`), expected: true },
    { name: 'two redundant zeros, past 33 bytes', signature: der(`0000${R}`, S), expected: false },
    { name: 'a byte after the sequence', signature: `${SIGNATURE}00`, expected: false },
    { name: 'a byte inside the sequence after s', signature: `304502${SIGNATURE.slice(6)}00`, expected: false },
    { name: 'a length in long form', signature: `308144${SIGNATURE.slice(4)}`, expected: false },
    { name: 'a negative r', signature: der(negative, S), expected: false },
    { name: 'an empty integer', signature: der('', S), expected: false },
    { name: 'r of zero', signature: der('00', S), expected: false },
    { name: 's alone', signature: `3022${'0220'}${S}`, expected: false },
    { name: 'a cut signature', signature: SIGNATURE.slice(0, -2), expected: false },
    { name: 'an odd digit', signature: SIGNATURE.slice(0, -1), expected: false },
    { name: 'no signature', signature: '', expected: false },
    { name: 'raw r and s', signature: R + S, expected: false },
  ]) {
    test(`p256: ${name} is ${expected ? 'accepted' : 'refused'}`, () => {
      expect(accepts(signature)).toBe(expected)
    })
  }

  for (const { name, publicKey } of [
    { name: 'an uncompressed key', publicKey: encodeHex(p256.Point.fromHex(PUBLIC_KEY).toBytes(false)) },
    { name: 'a key off the curve', publicKey: `02${'ff'.repeat(32)}` },
    { name: 'another key', publicKey: p256PublicKey('11'.repeat(32)) },
    { name: 'the key of the other half plane', publicKey: `03${PUBLIC_KEY.slice(2)}` },
    { name: 'no key', publicKey: '' },
  ]) {
    test(`p256: ${name} verifies nothing and throws nothing`, () => {
      expect(accepts(SIGNATURE, publicKey)).toBe(false)
    })
  }

  test('p256: a verifier that keeps two keys still verifies under many', () => {
    const verify = createP256Verifier({ capacity: 2 })
    const signers = Array.from({ length: 5 }, () => createP256Signer(generateP256KeyPair().privateKey))
    for (const signer of [...signers, ...signers.toReversed()]) {
      const claim = { body: BODY, signatureHex: signer.sign(BODY) }
      const answers = signers.map(({ publicKey }) => verify({ ...claim, publicKey }))
      expect(answers).toEqual(signers.map((other) => other === signer))
    }
  })
})

test('p256: Wycheproof: all 484 cases come out as published', () => {
  const cases = readVectors<{
    readonly tcId: number
    readonly result: 'valid' | 'invalid'
    readonly publicKey: string
    readonly msg: string
    readonly sig: string
  }>('wycheproof/ecdsa-p256-sha256.jsonl')
  expect(cases).toHaveLength(484)
  const wrong = cases.filter(
    ({ result, publicKey, msg, sig }) =>
      verifyP256({ publicKey, body: decodeHex(msg), signatureHex: sig }) !== (result === 'valid'),
  )
  expect(wrong).toEqual([])
})
