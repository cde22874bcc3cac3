import { p256 } from '@noble/curves/nist.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256, signEcdsaDigest, signEd25519, signSchnorrDigest } from '../../src/crypto/index.ts'
import { concatBytes, decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

const curves = { secp256k1, p256 }

describe('digests', () => {
  const vectors = readVectors<{
    readonly curve: keyof typeof curves
    readonly privateKey: string
    readonly message: string
    readonly r: string
    readonly s: string
  }>('rfc6979/sha256.jsonl')

  test('digests: there are seven vectors of RFC 6979', () => {
    expect(vectors).toHaveLength(7)
  })

  test.each(vectors)('digests: RFC 6979 on $curve: `$message`', ({ curve, privateKey, message, r, s }) => {
    const signed = signEcdsaDigest(curve, sha256(message), decodeHex(privateKey))
    // The standard's own signatures may have a high `s`; chains want the other one of the two.
    const { Fn } = curves[curve].Point
    const published = BigInt(`0x${s}`)
    const low = published > Fn.ORDER / 2n ? Fn.neg(published) : published
    expect([encodeHex(signed.r), encodeHex(signed.s)]).toEqual([r, low.toString(16).padStart(64, '0')])
  })

  test.each(['secp256k1', 'p256'] as const)('digests: on %s every signature is low, verifies and recovers', (curve) => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(bytes, bytes, (digest, secret) => {
        const { Point, utils, getPublicKey } = curves[curve]
        fc.pre(utils.isValidSecretKey(secret))
        const { r, s, recovery } = signEcdsaDigest(curve, digest, secret)
        expect(BigInt(`0x${encodeHex(s)}`) <= Point.Fn.ORDER / 2n).toBe(true)
        const recovered = curves[curve].recoverPublicKey(concatBytes(Uint8Array.of(recovery), r, s), digest, {
          prehash: false,
        })
        expect(recovered).toEqual(getPublicKey(secret))
      }),
      { numRuns: 40 },
    )
  })

  test('digests: anything but 32 bytes is refused', () => {
    expect(() => signEcdsaDigest('p256', new Uint8Array(31), new Uint8Array(32).fill(1))).toThrow('got 31')
    expect(() => signSchnorrDigest(new Uint8Array(33), new Uint8Array(32).fill(1))).toThrow('got 33')
  })

  test('digests: BIP-340: the first published signature', () => {
    const secret = decodeHex('03'.padStart(64, '0'))
    const { r, s } = signSchnorrDigest(new Uint8Array(32), secret)
    expect(encodeHex(concatBytes(r, s))).toBe(
      'e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca821525f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0',
    )
    expect(schnorr.verify(concatBytes(r, s), new Uint8Array(32), schnorr.getPublicKey(secret))).toBe(true)
  })

  test('digests: RFC 8032 §7.1: the second published signature', () => {
    const seed = decodeHex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb')
    expect(encodeHex(signEd25519(decodeHex('72'), seed))).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    )
    expect(seed[0]).toBe(0x4c)
    expect(signEd25519(encodeUtf8('x'), seed)).toHaveLength(64)
  })

  test('digests: Wycheproof: all 463 cases of Bitcoin’s rule come out as published, by what signs here', () => {
    const cases = readVectors<{
      readonly result: 'valid' | 'invalid'
      readonly publicKey: string
      readonly msg: string
      readonly sig: string
    }>('wycheproof/ecdsa-secp256k1-sha256-bitcoin.jsonl')
    expect(cases).toHaveLength(463)
    const accepts = ({ publicKey, msg, sig }: (typeof cases)[number]) => {
      try {
        const signature = secp256k1.Signature.fromHex(sig, 'der').toBytes('compact')
        return secp256k1.verify(signature, sha256(decodeHex(msg)), decodeHex(publicKey), { prehash: false, lowS: true })
      } catch {
        return false
      }
    }
    expect(cases.filter((each) => accepts(each) !== (each.result === 'valid'))).toEqual([])
  })
})
