import { generateKeyPairSync } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cbor, CryptoError, decodeCbor, parseCoseKey, readCbor } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'

type Parameter = readonly [number, number | Uint8Array<ArrayBuffer>]
type Parameters = ReadonlyMap<number, number | Uint8Array<ArrayBuffer>>

const coseKey = (...parameters: readonly Parameter[]): Parameters => new Map(parameters)

const encode = (value: unknown) => isoCBOR.encode(value as Map<number, number>)

describe('cbor', () => {
  // RFC 8949 appendix A, as far as authenticators use it.
  for (const { hex, value } of [
    { hex: '00', value: 0 },
    { hex: '17', value: 23 },
    { hex: '1818', value: 24 },
    { hex: '1903e8', value: 1000 },
    { hex: '1a000f4240', value: 1_000_000 },
    { hex: '1b000000e8d4a51000', value: 1_000_000_000_000 },
    { hex: '20', value: -1 },
    { hex: '390100', value: -257 },
    { hex: '40', value: new Uint8Array() },
    { hex: '4401020304', value: Uint8Array.of(1, 2, 3, 4) },
    { hex: '60', value: '' },
    { hex: '62c3bc', value: 'ü' },
    { hex: '6449455446', value: 'IETF' },
    { hex: '80', value: [] },
    { hex: '8301820203820405', value: [1, [2, 3], [4, 5]] },
    { hex: 'a0', value: new Map() },
    {
      hex: 'a26161016162820203',
      value: new Map<string, Cbor>([
        ['a', 1],
        ['b', [2, 3]],
      ]),
    },
    { hex: 'f4', value: false },
    { hex: 'f5', value: true },
    { hex: 'f6', value: null },
  ]) {
    test(`cbor: ${hex} is read`, () => {
      expect(decodeCbor(decodeHex(hex))).toEqual(value)
    })
  }

  for (const { name, hex } of [
    { name: 'nothing', hex: '' },
    { name: 'a byte more', hex: '0000' },
    { name: 'an integer past 2^53', hex: '1bffffffffffffffff' },
    { name: 'an integer that is cut off', hex: '1901' },
    { name: 'bytes that are cut off', hex: '4201' },
    { name: 'more bytes than memory', hex: '5b001fffffffffffff' },
    { name: 'more items than bytes', hex: '9affffffff' },
    { name: 'more members than bytes', hex: 'baffffffff' },
    { name: 'a length that is not stated', hex: '5f4100ff' },
    { name: 'a reserved length', hex: '1c' },
    { name: 'a tag', hex: 'c000' },
    { name: 'a float', hex: 'f93c00' },
    { name: 'undefined', hex: 'f7' },
    { name: 'a text that is no UTF-8', hex: '61ff' },
    { name: 'a key twice', hex: 'a201000100' },
    { name: 'a key that is a list', hex: 'a18000' },
    { name: 'a deep nest', hex: `${'81'.repeat(20)}00` },
  ]) {
    test(`cbor: ${name} is refused`, () => {
      expect(() => decodeCbor(decodeHex(hex))).toThrow(CryptoError)
    })
  }

  test('cbor: what another implementation writes is read as it was', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null), fc.uint8Array({ maxLength: 300 }))
    const { item } = fc.letrec((tie) => ({
      item: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.array(tie('item'), { maxLength: 4 }),
        fc.array(fc.tuple(fc.oneof(fc.integer(), fc.string()), tie('item')), { maxLength: 4 }).map((e) => new Map(e)),
      ),
    }))
    fc.assert(
      fc.property(item, (value) => {
        expect(decodeCbor(encode(value))).toEqual(value)
      }),
    )
  })

  test('cbor: any bytes are read or refused, and what is read ends within them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          return readCbor(bytes).end <= bytes.length
        } catch (error) {
          return error instanceof CryptoError
        }
      }),
      { numRuns: 3000 },
    )
  })

  test('cbor: an item may be followed by others, and start anywhere', () => {
    expect(readCbor(decodeHex('00820102ff'), 1)).toEqual({ value: [1, 2], end: 4 })
  })
})

describe('cose', () => {
  const bytesOf = (member: string | undefined) => new Uint8Array(Buffer.from(member!, 'base64url'))
  const ec = (namedCurve: string) => {
    const { x, y } = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
    const parameters: Parameter[] = [
      [-2, bytesOf(x)],
      [-3, bytesOf(y)],
    ]
    return parameters
  }
  const rsa = (modulusLength: number) => {
    const { n, e } = generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
    const parameters: Parameter[] = [
      [-1, bytesOf(n)],
      [-2, bytesOf(e)],
    ]
    return parameters
  }
  const ed = bytesOf(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x)
  const es256 = coseKey([1, 2], [3, -7], [-1, 1], ...ec('P-256'))
  const rs256 = coseKey([1, 3], [3, -257], ...rsa(2048))
  const eddsa = coseKey([1, 1], [3, -8], [-1, 6], [-2, ed])

  for (const { name, key, algorithm } of [
    { name: 'P-256', key: es256, algorithm: 'ES256' },
    { name: 'P-384', key: coseKey([1, 2], [3, -35], [-1, 2], ...ec('P-384')), algorithm: 'ES384' },
    { name: 'P-521', key: coseKey([1, 2], [3, -36], [-1, 3], ...ec('P-521')), algorithm: 'ES512' },
    { name: 'RSA', key: rs256, algorithm: 'RS256' },
    { name: 'Ed25519', key: eddsa, algorithm: 'EdDSA' },
    { name: 'P-256 with a member more', key: coseKey(...es256, [4, Uint8Array.of(1)]), algorithm: 'ES256' },
  ]) {
    test(`cose: a key of ${name} is ${algorithm}`, () => {
      expect(parseCoseKey(encode(key))?.algorithm).toBe(algorithm)
    })
  }

  const changed = (key: Parameters, ...members: Parameter[]) => encode(coseKey(...key, ...members))
  const without = (key: Parameters, member: number) => encode(new Map([...key].filter(([name]) => name !== member)))
  for (const { name, bytes } of [
    { name: 'no CBOR', bytes: Uint8Array.of(0xff) },
    { name: 'a list', bytes: encode([1, 2]) },
    { name: 'no algorithm', bytes: without(es256, 3) },
    { name: 'an algorithm that is not in the table', bytes: changed(es256, [3, -47]) },
    { name: 'ES256 on another curve', bytes: changed(es256, [-1, 8]) },
    { name: 'ES256 of another kind of key', bytes: changed(es256, [1, 1]) },
    { name: 'ES256 without y', bytes: without(es256, -3) },
    { name: 'ES256 with the sign of y alone', bytes: encode(new Map([...es256, [-3, true]] as [number, unknown][])) },
    { name: 'ES256 with a short x', bytes: changed(es256, [-2, new Uint8Array(31)]) },
    { name: 'ES256 off the curve', bytes: changed(es256, [-3, new Uint8Array(32)]) },
    { name: 'RS256 of 1024 bits', bytes: encode(coseKey([1, 3], [3, -257], ...rsa(1024))) },
    { name: 'RS256 with a zero before it', bytes: changed(rs256, [-1, new Uint8Array(256)]) },
    { name: 'RS256 of 16 kilobytes', bytes: changed(rs256, [-1, new Uint8Array(16384).fill(255)]) },
    { name: 'RS256 with a long exponent', bytes: changed(rs256, [-2, new Uint8Array(5).fill(255)]) },
    { name: 'RS256 without an exponent', bytes: without(rs256, -2) },
    { name: 'EdDSA on Ed448', bytes: changed(eddsa, [-1, 7]) },
    { name: 'EdDSA of small order', bytes: changed(eddsa, [-2, decodeHex(`01${'00'.repeat(31)}`)]) },
    { name: 'a key and a byte', bytes: decodeHex(`${encodeHex(encode(es256))}00`) },
  ]) {
    test(`cose: ${name} is no key`, () => {
      expect(parseCoseKey(bytes)).toBeUndefined()
    })
  }
})
