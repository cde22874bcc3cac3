/** How much of the documented examples of policies stays unknown to `who-can`, to `policy compare` and to the linter, and why. */
import { describe, expect, test } from 'vitest'
import { comparePolicies, indirectPowersOf, powersOf, uselessPolicies } from '../../src/analysis/index.ts'
import { UNFOLLOWED } from '../../src/analysis/moves.ts'
import { compilePolicy, type PolicyText, readsOf } from '../../src/policy/index.ts'
import type { Actual, Resource } from '../../src/resources/index.ts'
import { actualOf, key, live, policy } from '../plan/organization.ts'
import { readPolicyCases } from '../policy/cases.ts'
import { remembered } from '../remembered.ts'
import { NOW, setOf } from './compared-sets.ts'
import { office } from './office.ts'

type Policies = readonly PolicyText[]
/** Every set of policies of the documented examples, once. */
const EXAMPLES = [
  ...new Map(
    readPolicyCases(['policy-cases.yaml']).map(({ policies }) => [JSON.stringify(policies), policies]),
  ).values(),
]
/** An organization with these policies, the users whom they name, and two users with each tag that they ask for. */
function organizationFor(policies: Policies): Actual {
  const { chains } = readsOf(...policies.map((one) => compilePolicy(one).consensus?.tree))
  const asked = (chain: string) => {
    const use = chains.get(chain) ?? []
    return use === 'otherwise' ? [] : [...use]
  }
  const userOf = (name: string, tags: readonly string[], id: string): readonly Resource[] => [
    live(`user.${name}`, { tags }, id),
    { ...live(`apiKey.${name}.k`, key(name)), parentId: id },
  ]
  const named = [
    ...asked('approvers.id').flatMap((id, at) => userOf(`named-${at}`, [], id)),
    ...asked('approvers.tags').flatMap((id, at) => [
      live(`tag.asked-${at}`, {}, id),
      ...['one', 'two'].flatMap((which) => userOf(`${which}-${at}`, [id], `${which} of ${id}`)),
    ]),
  ]
  const texts = policies.map(({ effect, condition = null, consensus = null }, index) =>
    live(`policy.p${index}`, policy(consensus, condition, effect === 'EFFECT_DENY' ? 'deny' : 'allow')),
  )
  return actualOf(office({}, texts, named))
}

const NOT_DOCUMENTED = 'what such requests have is not documented'

const next = (index: number) => EXAMPLES[(index + 1) % EXAMPLES.length]!
type PairOf = (of: Policies, index: number) => readonly [Policies, Policies]
const withNone: PairOf = (policies) => [[], policies]
const pairs: readonly (readonly [string, PairOf])[] = [
  ['with none', withNone],
  ['with none after it', (policies) => [policies, []]],
  ['with another', (policies, index) => [policies, next(index)]],
  ['with another added', (policies, index) => [policies, [...policies, ...next(index)]]],
]

/** What comes of the comparison of each example with another set of policies. */
const rowsOf = remembered((pairOf: PairOf) =>
  EXAMPLES.flatMap((policies, index) => {
    const [first, second] = pairOf(policies, index)
    return comparePolicies(setOf(first), setOf(second), { nowMs: NOW })
  }),
)

describe('documented examples', () => {
  test.each(pairs)('compared %s, fewer than 2 % of the rows are unknown, and each says why', (_, pairOf) => {
    const rows = rowsOf(pairOf)
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
    const rows = rowsOf(withNone)
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

  test('of who has which power, fewer than 2 % of the lines are unknown, and each says by which policies', () => {
    const lines = EXAMPLES.flatMap((policies) => powersOf(organizationFor(policies), { nowMs: NOW })).flatMap(
      (row) => row.lines,
    )
    const unknown = lines.filter(({ people }) => people === 'unknown')
    expect(lines.length).toBeGreaterThan(1000)
    expect(unknown.length / lines.length).toBeLessThan(0.02)
    for (const { policies } of unknown) expect(policies).not.toEqual([])
  })

  test('of who gets to a power by moves, nothing is left out but what is said not to be followed', () => {
    const found = EXAMPLES.map((policies) => indirectPowersOf(organizationFor(policies), { nowMs: NOW }))
    const notFollowed = UNFOLLOWED.map(({ says }) => says)
    expect(found.flatMap(({ rows }) => rows.flatMap(({ paths }) => paths)).length).toBeGreaterThan(100)
    expect(found.flatMap(({ limits }) => limits).filter((one) => !notFollowed.includes(one))).toEqual([])
  }, 60_000)
})
