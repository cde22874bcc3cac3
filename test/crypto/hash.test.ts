import { expect, test } from 'vitest'
import { keccak256, sha256 } from '../../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'

// FIPS 180-4 and the Keccak team's own values, with one text of more than ASCII.
const table = [
  {
    text: '',
    sha: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    keccak: 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  },
  {
    text: 'abc',
    sha: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    keccak: '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
  },
]
for (const { text, sha, keccak } of table) {
  test(`hash: \`${text}\` has its published digests, as text and as bytes`, () => {
    expect(encodeHex(sha256(text))).toBe(sha)
    expect(encodeHex(sha256(encodeUtf8(text)))).toBe(sha)
    expect(encodeHex(keccak256(text))).toBe(keccak)
    expect(encodeHex(keccak256(encodeUtf8(text)))).toBe(keccak)
  })
}

test('hash: text is hashed as UTF-8', () => {
  expect(sha256('ключ €')).toEqual(sha256(encodeUtf8('ключ €')))
  expect(keccak256('ключ €')).toEqual(keccak256(encodeUtf8('ключ €')))
})
