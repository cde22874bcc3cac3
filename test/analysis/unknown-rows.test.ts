/** How much of the documented examples of policies stays unknown to `policy compare` and to the linter, and why. */
import { describe, expect, test } from 'vitest'
import { comparePolicies, uselessPolicies } from '../../src/analysis/index.ts'
import type { PolicyText } from '../../src/policy/index.ts'
import { readPolicyCases } from '../policy/cases.ts'
import { NOW, setOf } from './compared-sets.ts'

type Policies = readonly PolicyText[]
/** Every set of policies of the documented examples, once. */
const EXAMPLES = [
  ...new Map(
    readPolicyCases(['policy-cases.yaml']).map(({ policies }) => [JSON.stringify(policies), policies]),
  ).values(),
]
const NOT_DOCUMENTED = 'what such requests have is not documented'

const next = (index: number) => EXAMPLES[(index + 1) % EXAMPLES.length]!
const pairs: readonly (readonly [string, (of: Policies, index: number) => readonly [Policies, Policies]])[] = [
  ['with none', (policies) => [[], policies]],
  ['with none after it', (policies) => [policies, []]],
  ['with another', (policies, index) => [policies, next(index)]],
  ['with another added', (policies, index) => [policies, [...policies, ...next(index)]]],
]

describe('documented examples', () => {
  test.each(pairs)('compared %s, fewer than 2 % of the rows are unknown, and each says why', (_, pairOf) => {
    const rows = EXAMPLES.flatMap((policies, index) => {
      const [first, second] = pairOf(policies, index)
      return comparePolicies(setOf(first), setOf(second), { nowMs: NOW })
    })
    const unknown = rows.filter(({ relation }) => relation === 'unknown')
    expect(rows.length).toBeGreaterThan(1000)
    expect(unknown.length / rows.length).toBeLessThan(0.02)
    for (const { because, unknown: names } of unknown) {
      expect(names).not.toEqual([])
      expect(because).not.toEqual([])
    }
    for (const { because, unknown: names, relation } of rows)
      if (relation !== 'unknown') expect([names, because]).toEqual([[], []])
  })

  test('compared with none, what is unknown are activities of which no documentation says what they have', () => {
    const rows = EXAMPLES.flatMap((policies) => comparePolicies(setOf([]), setOf(policies), { nowMs: NOW }))
    const unknown = rows.filter(({ relation }) => relation === 'unknown')
    expect(unknown.length).toBeGreaterThan(0)
    for (const { power, because } of unknown) {
      expect(power).toBe('send')
      expect(because).toContain(NOT_DOCUMENTED)
    }
  })

  test('whether a policy is of use is known of all but one in a hundred', () => {
    const found = EXAMPLES.flatMap((policies) => uselessPolicies(setOf(policies), { nowMs: NOW }))
    const unknown = found.filter(({ why }) => why === 'unknown')
    expect(unknown.length / EXAMPLES.flat().length).toBeLessThan(0.02)
    expect(found.length).toBeGreaterThan(unknown.length)
  })
})
