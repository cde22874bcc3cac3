import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CryptoError, combineShares, randomBytes, splitSecret } from '../../src/crypto/index.ts'
import { decodeHex, decodeUtf8, encodeHex } from '../../src/encoding/index.ts'
import { runs } from '../runs.ts'

/** Two of three, as QuorumOS publishes them in its own tests. */
const PUBLISHED = [
  '01661fc0cc265daa4e7bde354c281dcc23a80c590249',
  '027bb5fb26d326e0fc421cf604e495e3d3e4bd24ab0e',
  '0370d31b89800f2f9255abb73ca0ed0f8329d20fcc33',
].map((hex) => decodeHex(hex))

describe('shares of a secret', () => {
  test('shares of a secret: those that QuorumOS publishes give its secret, two by two', () => {
    const [one, two, three] = PUBLISHED as [Uint8Array, Uint8Array, Uint8Array]
    for (const shares of [[one, two], [two, three], [three, one], PUBLISHED])
      expect(decodeUtf8(combineShares(shares))).toBe('my cute little secret')
  })

  test('shares of a secret: as many as the threshold give it back in any order, and one less does not', () => {
    const sharing = fc
      .record({ secret: fc.uint8Array({ minLength: 8, maxLength: 40 }), count: fc.integer({ min: 2, max: 255 }) })
      .chain(({ secret, count }) =>
        fc.record({
          secret: fc.constant(secret),
          count: fc.constant(count),
          threshold: fc.integer({ min: 2, max: Math.min(count, 12) }),
          seed: fc.integer({ min: 1, max: 254 }),
        }),
      )
    fc.assert(
      fc.property(sharing, ({ secret, count, threshold, seed }) => {
        const shares = splitSecret(secret, { threshold, count }, randomBytes)
        expect(shares.map((share) => share[0])).toEqual(Array.from({ length: count }, (_, at) => at + 1))
        const turned = shares.map((_, at) => shares[(at * seed + at) % count]!)
        const some = [...new Set([...turned, ...shares])].slice(0, threshold)
        expect(encodeHex(combineShares(some))).toBe(encodeHex(secret))
        expect(encodeHex(combineShares(some.slice(1)))).not.toBe(encodeHex(secret))
      }),
      { numRuns: runs(50) },
    )
  })

  test.each([[{ threshold: 1, count: 2 }], [{ threshold: 3, count: 2 }], [{ threshold: 2, count: 256 }]])(
    'shares of a secret: %j is refused',
    (sharing) => {
      expect(() => splitSecret(new Uint8Array(8), sharing, randomBytes)).toThrow(CryptoError)
    },
  )

  test('shares of a secret: what are no shares of one are refused', () => {
    const [one, two] = PUBLISHED as [Uint8Array, Uint8Array]
    for (const shares of [[], [one, one], [one, two.slice(1)], [one, Uint8Array.from([0, ...two.slice(1)])]])
      expect(() => combineShares(shares)).toThrow(CryptoError)
  })
})
