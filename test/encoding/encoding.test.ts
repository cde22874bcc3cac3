import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  concatBytes,
  decodeBase58,
  decodeBase64,
  decodeHex,
  decodeUtf8,
  EncodingError,
  encodeBase32,
  encodeBase58,
  encodeBase64Url,
  encodeBech32,
  encodeHex,
  encodeUtf8,
  equalBytes,
  isHex,
} from '../../src/encoding/index.ts'

const bytes = fc.uint8Array({ maxLength: 64 }).map((array) => Uint8Array.from(array))

describe('hex', () => {
  test('hex: what is encoded decodes to the same bytes, in either case and with 0x', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const text = encodeHex(data)
        expect(text).toMatch(/^([0-9a-f]{2})*$/)
        for (const form of [text, text.toUpperCase(), `0x${text}`]) expect(decodeHex(form)).toEqual(data)
      }),
    )
  })

  test('hex: a view into a longer buffer is encoded alone', () => {
    expect(encodeHex(Uint8Array.of(1, 2, 3, 4).subarray(1, 3))).toBe('0203')
  })

  for (const { text, seen } of [
    { text: '123', seen: '3 digits' },
    { text: '0x1', seen: '1 digits' },
    { text: '12g4', seen: 'a character that is no hex digit at 2' },
    { text: '12 4', seen: 'a character that is no hex digit at 2' },
    { text: '1234\n', seen: 'a character that is no hex digit at 4' },
    { text: '0X12', seen: 'a character that is no hex digit at 1' },
  ]) {
    test(`hex: ${JSON.stringify(text)} is refused, saying what was seen and not the text`, () => {
      expect(isHex(text)).toBe(false)
      expect(() => decodeHex(text)).toThrow(new EncodingError(`expected hex of whole bytes, got ${seen}`))
    })
  }

  test('hex: eight million digits are no trouble', () => {
    const text = 'ab'.repeat(4_000_000)
    expect(isHex(text)).toBe(true)
    expect(isHex(`${text}x`)).toBe(false)
    expect(decodeHex(text)).toHaveLength(4_000_000)
  })
})

describe('base64', () => {
  test('base64: both alphabets decode, with padding and without', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const url = encodeBase64Url(data)
        expect(url).toMatch(/^[A-Za-z0-9_-]*$/)
        const standard = Buffer.from(data).toString('base64')
        const forms = [url, standard, standard.replace(/=+$/, ''), url.padEnd(Math.ceil(url.length / 4) * 4, '=')]
        for (const form of forms) expect(decodeBase64(form)).toEqual(data)
      }),
    )
  })

  for (const text of ['A', 'AAAAA', 'AA AA', 'AA\nAA', '=AAA', 'AA=A', 'A===', 'AAA====', 'AA.A', 'é', 'AA%3D']) {
    test(`base64: ${JSON.stringify(text)} is refused`, () => {
      expect(() => decodeBase64(text)).toThrow(EncodingError)
    })
  }
})

describe('text', () => {
  test('text: any text comes back from its UTF-8, a byte order mark too', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => decodeUtf8(encodeUtf8(text)) === text))
    expect(decodeUtf8(encodeUtf8('\uFEFFa'))).toBe('\uFEFFa')
  })

  test('text: bytes that are no UTF-8 are refused, never replaced', () => {
    for (const bad of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      expect(() => decodeUtf8(Uint8Array.from(bad))).toThrow(TypeError)
    }
  })
})

describe('bytes', () => {
  test('bytes: joining keeps order and every byte', () => {
    fc.assert(
      fc.property(fc.array(bytes), (parts) => {
        expect([...concatBytes(...parts)]).toEqual(parts.flatMap((part) => [...part]))
      }),
    )
  })

  test('bytes: equal means the same bytes and the same length', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(equalBytes(a, b)).toBe(encodeHex(a) === encodeHex(b))
        expect(equalBytes(a, Uint8Array.from(a))).toBe(true)
      }),
    )
    expect(equalBytes(Uint8Array.of(1), Uint8Array.of(1, 0))).toBe(false)
  })
})

describe('other bases', () => {
  test('base58: the example of its draft, leading zeros, and the alphabet of Ripple', () => {
    expect(encodeBase58(encodeUtf8('Hello World!'))).toBe('2NEpo7TZRRrLZSi2U')
    expect(encodeBase58(decodeHex('0000287fb4cd'))).toBe('11233QC4')
    expect(decodeBase58('11233QC4')).toEqual(decodeHex('0000287fb4cd'))
    expect(() => decodeBase58('0OIl')).toThrow(EncodingError)
    expect(() => decodeBase58('1'.repeat(129))).toThrow(EncodingError)
    expect(encodeBase58(decodeHex('0000287fb4cd'), 'ripple')).toBe('rrpssQUh')
  })

  test('base32: the vectors of RFC 4648, without padding', () => {
    const vectors = {
      '': '',
      f: 'MY',
      fo: 'MZXQ',
      foo: 'MZXW6',
      foob: 'MZXW6YQ',
      fooba: 'MZXW6YTB',
      foobar: 'MZXW6YTBOI',
    }
    for (const [text, expected] of Object.entries(vectors)) expect(encodeBase32(encodeUtf8(text))).toBe(expected)
  })

  test('bech32: no data has the checksums of BIP-173 and BIP-350', () => {
    expect(encodeBech32('a', new Uint8Array())).toBe('a12uel5l')
    expect(encodeBech32('a', new Uint8Array(), 'bech32m')).toBe('a1lqfn3a')
  })

  test('bech32: more than 90 characters are written', () => {
    expect(encodeBech32('spark', new Uint8Array(100))).toHaveLength('spark1'.length + 160 + 6)
  })
})
