import { expect, test } from 'vitest'
import { sha256 } from '../../src/crypto/index.ts'
import { type SparkKey, sparkAccountOf, sparkPath } from '../../src/spark/index.ts'
import { expectRefusal } from './expect-refusal.ts'

test.each<[SparkKey, string]>([
  [{ kind: 'identity' }, "m/8797555'/7'/0'"],
  [{ kind: 'deposit' }, "m/8797555'/7'/2'"],
  [{ kind: 'staticDeposit', index: 0 }, "m/8797555'/7'/3'/0'"],
  [{ kind: 'staticDeposit', index: 2 ** 31 - 1 }, "m/8797555'/7'/3'/2147483647'"],
])('the key %j stands at %s', (key, path) => {
  expect(sparkPath(7, key)).toBe(path)
})

test('a leaf stands at the number that its id hashes to, below 2^31', () => {
  for (const leafId of ['a', 'b', 'c', 'd', 'ä', '018f2c5e-7a31-7c44-9d8f-0242ac120002']) {
    const number = Buffer.from(sha256(leafId)).readUInt32BE(0) & 0x7fffffff
    expect(sparkPath(0, { kind: 'signingLeaf', leafId })).toBe(`m/8797555'/0'/1'/${number}'`)
  }
})

test('the account is the one whose identity signs; nothing else is an identity', () => {
  expect(sparkAccountOf("m/8797555'/12'/0'")).toBe(12)
  for (const path of ["m/8797555'/12'/2'", "m/8797555'/12/0'", "m/44'/0'/0'", "m/8797555'/12'/0'/0'"]) {
    expectRefusal(
      () => sparkAccountOf(path),
      "expected `signWith` to be a Spark identity, an account at m/8797555'/<account>'/0'",
    )
  }
})

test.each([-1, 2 ** 31, 1.5])('the index %d of a static deposit is refused', (index) => {
  expectRefusal(
    () => sparkPath(0, { kind: 'staticDeposit', index }),
    `expected \`index\` to be between 0 and 2147483647, got ${index}`,
  )
})
