import { describe, expect, test } from 'vitest'
import { createPooledRandomBytes } from '../../src/crypto/index.ts'

describe('pooled randomness', () => {
  test('pooled randomness: the length asked for, and no bytes twice, across many blocks and for long draws', () => {
    const draw = createPooledRandomBytes()
    const seen = new Set<string>()
    const lengths = [12, 16, 10, 32, 33, 64]
    for (let i = 0; i < 3_000; i++) {
      const length = lengths[i % lengths.length]!
      const bytes = draw(length)
      expect(bytes.length).toBe(length)
      seen.add(Buffer.from(bytes).toString('hex'))
    }
    expect(seen.size).toBe(3_000)
  })

  test('pooled randomness: what was given stays as it was', () => {
    const draw = createPooledRandomBytes()
    const first = draw(16)
    const copy = Uint8Array.from(first)
    for (let i = 0; i < 600; i++) draw(16)
    expect(first).toEqual(copy)
    expect(first.some((byte) => byte !== 0)).toBe(true)
  })
})
