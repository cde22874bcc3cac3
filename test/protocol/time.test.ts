import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromTimestamp, toTimestamp } from '../../src/protocol/index.ts'

test.each([
  { given: 1_745_383_555_000, expected: { seconds: '1745383555', nanos: '0' } },
  { given: 1_745_383_555_042, expected: { seconds: '1745383555', nanos: '42000000' } },
  { given: 0, expected: { seconds: '0', nanos: '0' } },
])('time: $given ms are written in the object form', ({ given, expected }) => {
  expect(toTimestamp(given)).toEqual(expected)
})

test.each([
  { name: 'the object', given: { seconds: '1745383555', nanos: '42000000' } },
  { name: 'the object, finer than a millisecond', given: { seconds: '1745383555', nanos: '42999999' } },
  { name: 'RFC 3339', given: '2025-04-23T04:45:55.042Z' },
  { name: 'RFC 3339 with an offset', given: '2025-04-23T06:45:55.042+02:00' },
  { name: 'milliseconds as text', given: '1745383555042' },
  { name: 'milliseconds as a number', given: 1_745_383_555_042 },
])('time: $name is read', ({ given }) => {
  expect(fromTimestamp(given)).toBe(1_745_383_555_042)
})

test('time: a count below 10^11 is seconds', () => {
  expect([fromTimestamp('1745383555'), fromTimestamp(0)]).toEqual([1_745_383_555_000, 0])
})

test.each([
  '',
  'yesterday',
  '2025-04-23',
  '-5',
  '1e9',
  '2025-13-45T99:99:99Z',
  { seconds: 'x', nanos: '0' },
  Number.NaN,
])('time: %j is refused', (given) => {
  expect(() => fromTimestamp(given)).toThrow(RangeError)
})

test('time: what is written is read back', () => {
  fc.assert(
    fc.property(fc.nat(8_640_000_000_000_000), (ms) => {
      expect(fromTimestamp(toTimestamp(ms))).toBe(ms)
    }),
  )
})

test.each([-1, 1.5, Number.NaN])('time: %d ms cannot be written', (ms) => {
  expect(() => toTimestamp(ms)).toThrow(RangeError)
})
