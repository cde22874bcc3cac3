import { secp256k1 as noble } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { hashMessage } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { CryptoError, createEip191Signer, eip191Digest, KEY_CURVES, verifyEip191 } from '../../src/crypto/index.ts'
import { concatBytes, decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'

// docs/protocol/stamps.md#test-vectors
const PRIVATE_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const PUBLIC_KEY = '0235a5d602572338e4e6a2fa0b988d5694999ea2914d4da2bb76baa641a7cfbcf6'
const BODY = encodeUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}')
const SIGNATURE =
  '30440220306733987da7293819ce0613f582fe62df611016d4127d9c19167914128a870c022035da0f958bea424d88a2aeb839fb9daebdac8c88f94c6163d2263101dd152db1'

test('eip191: the digest and the signature are the published ones', () => {
  expect(encodeHex(eip191Digest(BODY))).toBe('5b04da2fd4f25bb0a4870284dbbcfabf8f6c91b6c2160fb08f3808a2f210c4b8')
  const signer = createEip191Signer(PRIVATE_KEY)
  expect([signer.publicKey, signer.sign(BODY)]).toEqual([PUBLIC_KEY, SIGNATURE])
})

test('eip191: length counts bytes, and the digest is that of another implementation', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const body = encodeUtf8(text)
      return `0x${encodeHex(eip191Digest(body))}` === hashMessage({ raw: body })
    }),
    { numRuns: 30 },
  )
})

test('eip191: the signature of a wallet verifies once its recovery byte is dropped', async () => {
  const signed = await privateKeyToAccount(`0x${PRIVATE_KEY}`).signMessage({ message: { raw: BODY } })
  const compact = noble.Signature.fromBytes(decodeHex(signed).slice(0, 64), 'compact')
  const claim = { publicKey: PUBLIC_KEY, body: BODY, signatureHex: compact.toHex('der') }
  expect(verifyEip191(claim)).toBe(true)
})

test('eip191: a high s and redundant zeros are accepted, a plain signature and anything malformed are not', () => {
  const { r, s } = noble.Signature.fromHex(SIGNATURE, 'der')
  const high = new noble.Signature(r, noble.Point.Fn.neg(s)).toHex('der')
  const padded = `3045022100${SIGNATURE.slice(8, 72)}${SIGNATURE.slice(72)}`
  const accepted = (signatureHex: string, publicKey = PUBLIC_KEY) =>
    verifyEip191({ publicKey, body: BODY, signatureHex })
  expect([accepted(high), accepted(padded), accepted(SIGNATURE, PUBLIC_KEY.toUpperCase())]).toEqual([true, true, true])
  const plain = KEY_CURVES.secp256k1.createSigner(PRIVATE_KEY).sign(BODY)
  for (const bad of [plain, `${SIGNATURE}00`, SIGNATURE.slice(2), '', 'zz', '3006020100020100']) {
    expect(accepted(bad), bad).toBe(false)
  }
  for (const key of [`02${'ff'.repeat(32)}`, PUBLIC_KEY.slice(2), `03${PUBLIC_KEY.slice(2)}`, '']) {
    expect(accepted(SIGNATURE, key), key).toBe(false)
  }
})

test('eip191: a private key that is none is refused', () => {
  expect(() => createEip191Signer('00'.repeat(32))).toThrow(CryptoError)
})

test('eip191: nothing one bit away in the signed text verifies', () => {
  const message = concatBytes(BODY)
  const accepted = Array.from({ length: 64 }, (_, bit) => {
    const changed = Uint8Array.from(message)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    return verifyEip191({ publicKey: PUBLIC_KEY, body: changed, signatureHex: SIGNATURE })
  })
  expect(accepted).not.toContain(true)
})
