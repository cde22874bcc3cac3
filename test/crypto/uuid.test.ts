import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newTimeOrderedUuid, newUuid, randomBytes } from '../../src/crypto/index.ts'

const zeros = (length: number) => new Uint8Array(length)
const ones = (length: number) => new Uint8Array(length).fill(0xff)

test('uuid: a random one has version 4 and the variant of RFC 9562 over its random bits', () => {
  expect(newUuid(zeros)).toBe('00000000-0000-4000-8000-000000000000')
  expect(newUuid(ones)).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff')
})

test('uuid: the example of RFC 9562 for version 7', () => {
  const random = () => Uint8Array.from([0x7c, 0xc3, 0x98, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
  expect(newTimeOrderedUuid(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
})

test('uuid: time-ordered ones sort by their milliseconds, whatever the random bits', () => {
  const ms = fc.nat({ max: 2 ** 48 - 2 })
  fc.assert(
    fc.property(ms, ms, (a, b) => {
      const [earlier, later] = [Math.min(a, b), Math.max(a, b) + 1]
      return newTimeOrderedUuid(earlier, ones) < newTimeOrderedUuid(later, zeros)
    }),
  )
})

test('uuid: a thousand of the same millisecond are different', () => {
  const now = 1_700_000_000_000
  const ids = Array.from({ length: 1000 }, () => newTimeOrderedUuid(now, randomBytes))
  expect(new Set(ids).size).toBe(1000)
})

test('uuid: the source of randomness is not written to', () => {
  const bytes = new Uint8Array(16)
  newUuid(() => bytes)
  expect(bytes).toEqual(new Uint8Array(16))
})
