import { ed25519 as noble } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CryptoError, KEY_CURVES } from '../../src/crypto/index.ts'
import { concatBytes, decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

const { ed25519 } = KEY_CURVES

// docs/protocol/stamps.md#test-vectors
const SEED = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const PUBLIC_KEY = '94049caccc796d7a4f3a60b95ad457bcaa5ece09c9f38cbd173adb31eaa23fbe'
const BODY = encodeUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}')

const accepts = (signatureHex: string, publicKey = PUBLIC_KEY, body: Uint8Array = BODY) =>
  ed25519.verify({ publicKey, body, signatureHex })

describe('keys', () => {
  test('ed25519: the private key is the seed, in either case', () => {
    expect(ed25519.publicKeyOf(SEED.toUpperCase())).toBe(PUBLIC_KEY)
    expect(ed25519.createSigner(SEED).publicKey).toBe(PUBLIC_KEY)
  })

  test('ed25519: what is no seed is refused without repeating it', () => {
    for (const key of [SEED.slice(2), SEED + PUBLIC_KEY, 'z'.repeat(64)]) {
      expect(() => ed25519.publicKeyOf(key)).toThrow(CryptoError)
      expect(() => ed25519.createSigner(key)).not.toThrow(key)
    }
  })
})

describe('signatures', () => {
  const signature = ed25519.createSigner(SEED).sign(BODY)

  test('ed25519: the signature is over the body itself and the one of another implementation', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (body) => {
        const made = ed25519.createSigner(SEED).sign(body)
        return made === encodeHex(noble.sign(body, decodeHex(SEED))) && accepts(made, PUBLIC_KEY, body)
      }),
      { numRuns: 50 },
    )
  })

  test('ed25519: it verifies in upper case, and neither longer nor shorter', () => {
    expect(accepts(signature.toUpperCase(), PUBLIC_KEY.toUpperCase())).toBe(true)
    for (const other of [`${signature}00`, signature.slice(2), signature.slice(1), '', 'zz']) {
      expect(accepts(other), other).toBe(false)
    }
  })

  test('ed25519: an S above the order of the group is refused (RFC 8032 §5.1.7)', () => {
    const bytes = decodeHex(signature)
    const s = BigInt(`0x${encodeHex(bytes.slice(32).reverse())}`) + noble.Point.Fn.ORDER
    const above = decodeHex(s.toString(16).padStart(64, '0')).reverse()
    expect(accepts(encodeHex(concatBytes(bytes.slice(0, 32), above)))).toBe(false)
  })

  test('ed25519: keys of small order or in another than the canonical form verify nothing, forged or not', () => {
    // R = S·B fits every message under the identity as key: the rules of ZIP-215 take it.
    const identity = `01${'00'.repeat(31)}`
    const forged = encodeHex(concatBytes(noble.Point.BASE.toBytes(), decodeHex(`01${'00'.repeat(31)}`)))
    expect(noble.verify(decodeHex(forged), BODY, decodeHex(identity), { zip215: true })).toBe(true)
    expect(accepts(forged, identity)).toBe(false)
    // p + 1 and p, which are the identity and a point of order four once more.
    for (const first of ['ee', 'ed']) expect(accepts(forged, `${first}${'ff'.repeat(30)}7f`)).toBe(false)
    for (const other of [PUBLIC_KEY.slice(2), `${PUBLIC_KEY}00`, '', `02${PUBLIC_KEY}`]) {
      expect(accepts(signature, other), other).toBe(false)
    }
  })

  test('ed25519: Wycheproof: all 151 cases come out as published', () => {
    const cases = readVectors<{
      readonly tcId: number
      readonly result: 'valid' | 'invalid'
      readonly publicKey: string
      readonly msg: string
      readonly sig: string
    }>('wycheproof/ed25519.jsonl')
    expect(cases).toHaveLength(151)
    const wrong = cases.filter(
      ({ result, publicKey, msg, sig }) => accepts(sig, publicKey, decodeHex(msg)) !== (result === 'valid'),
    )
    expect(wrong).toEqual([])
  })
})
