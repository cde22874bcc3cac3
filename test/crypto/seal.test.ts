import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CryptoError, randomBytes, seal, unseal } from '../../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'

const KEY = new Uint8Array(32).fill(7)
const PLAIN = encodeUtf8('legal winner thank year')

test('seal: what is sealed opens with the same key for the same place', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plain, place) => {
      expect(unseal(KEY, seal(KEY, plain, place, randomBytes), place)).toEqual(Uint8Array.from(plain))
    }),
  )
})

test('seal: a place may be bytes or the same text', () => {
  const sealed = seal(KEY, PLAIN, 'wallets/1', randomBytes)
  expect(unseal(KEY, sealed, encodeUtf8('wallets/1'))).toEqual(PLAIN)
})

test('seal: the form is a version, a nonce, the text and a tag, and stays so', () => {
  const sealed = seal(KEY, PLAIN, 'wallets/1', (length) => new Uint8Array(length).fill(9))
  expect(encodeHex(sealed)).toBe(
    '010909090909090909090909094be0e3f5d2d0b608ce0cae4ac69ecbbebadb438a518f854eb0d46121181400f799cc00e4eef855',
  )
})

test('seal: no bit of the sealed bytes can be changed, nor one cut off', () => {
  const sealed = seal(KEY, PLAIN, 'wallets/1', randomBytes)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Uint8Array.from(sealed)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => unseal(KEY, changed, 'wallets/1'), `bit ${bit}`).toThrow(CryptoError)
  }
  for (let length = 0; length < sealed.length; length++) {
    expect(() => unseal(KEY, sealed.subarray(0, length), 'wallets/1'), `${length} bytes`).toThrow(CryptoError)
  }
})

test('seal: sealed bytes do not open for another place or with another key', () => {
  const sealed = seal(KEY, PLAIN, 'wallets/1', randomBytes)
  expect(() => unseal(KEY, sealed, 'wallets/2')).toThrow(CryptoError)
  expect(() => unseal(new Uint8Array(32).fill(8), sealed, 'wallets/1')).toThrow(CryptoError)
})

test('seal: the same text is never sealed to the same bytes', () => {
  const all = Array.from({ length: 100 }, () => encodeHex(seal(KEY, PLAIN, '', randomBytes)))
  expect(new Set(all).size).toBe(100)
})

test('seal: a key of another length is refused by name', () => {
  for (const length of [0, 16, 31, 33]) {
    const wanted = `expected \`key\` to be 32 bytes, got ${length}`
    expect(() => seal(new Uint8Array(length), PLAIN, '', randomBytes)).toThrow(wanted)
    expect(() => unseal(new Uint8Array(length), PLAIN, '')).toThrow(wanted)
  }
})
