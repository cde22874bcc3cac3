/** What is unknown, with a mistake put into the telling of it: it is called equal, unchanged or known nowhere unnoticed. */
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import * as analysis from '../../src/analysis/index.ts'
import { apiKeyFacts } from '../../src/authority/index.ts'
import type { PolicyText } from '../../src/policy/index.ts'
import { actualOf, idFor, key, live, policy } from '../plan/organization.ts'
import { NOW, setOf } from './compared-sets.ts'
import { mutated } from './mutated.ts'
import { is, office } from './office.ts'

type Analysis = Pick<
  typeof analysis,
  'comparePolicies' | 'relationOf' | 'accessBetween' | 'uselessPolicies' | 'powersOf'
>

const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"
/** So many of twenty people that not all sets can be tried. */
const many = (count: number) => `approvers.count() >= ${count} && approvers.all(a, approvers.any(b, a.id == b.id))`
const TWENTY = Array.from({ length: 20 }, (_, index) => `p${index}`)

function crowd(policies: readonly Partial<PolicyText>[]) {
  const set = setOf(policies)
  const users = TWENTY.map((name) => {
    const facts = apiKeyFacts({ id: `${name}-key`, userId: name, type: 'P256', publicKey: name })
    return { id: name, name, alias: name, tags: [], credentials: [{ name: 'k', facts }], mfaPolicies: [] }
  })
  return { ...set, organization: { ...set.organization, users: [...set.organization.users, ...users] } }
}
const crowded = (consensus: string) =>
  office(
    {},
    [live('policy.sign', policy(consensus, SIGNS))],
    [...TWENTY.flatMap((name) => [live(`user.${name}`, { tags: [] }), live(`apiKey.${name}.k`, key(name))])],
  )
const manyConditions = office({}, [
  ...[1, 2, 3, 4, 5, 6, 7].map((value) =>
    live(`policy.p${value}`, policy(is('bob'), `${SIGNS} && eth.tx.value == ${value}`)),
  ),
  live('policy.joint', policy(`approvers[1].id == '${idFor('user.carol')}'`, `${SIGNS} && eth.tx.nonce > 5`)),
  live('policy.three', policy('approvers.count() == 3', `${SIGNS} && eth.tx.gas > 5`)),
])

type Asked = (of: Analysis) => unknown
const compared =
  (a: ReturnType<typeof setOf>, b: ReturnType<typeof setOf>, power: 'sign' | 'send' = 'sign'): Asked =>
  ({ comparePolicies, relationOf }) => {
    const rows = comparePolicies(a, b, { nowMs: NOW, powers: [power] })
    return [relationOf(rows), ...rows.flatMap(({ because }) => because)]
  }
const by = (condition: string) => setOf([{ condition: `${SIGNS} && ${condition}` }])
const uses =
  (mostChoices?: number): Asked =>
  ({ uselessPolicies }) => {
    const conditions = [`${SIGNS} && eth.tx.value < 5`, `${SIGNS} && eth.tx.value < 6 && eth.tx.gas < 6`]
    const set = setOf(conditions.map((condition) => ({ condition })))
    return uselessPolicies(set, { nowMs: NOW, ...(mostChoices === undefined ? {} : { mostChoices }) }).map(
      ({ why }) => why,
    )
  }

/** What is asked, and what is told. */
const CASES: readonly (readonly [string, Asked, unknown])[] = [
  [
    'parts that are compared with each other',
    compared(by('eth.tx.to == eth.tx.from'), by('eth.tx.from == eth.tx.to')),
    ['unknown', 'parts of a request are compared with each other'],
  ],
  [
    'requests of which no documentation tells',
    compared(setOf([{ condition: 'bitcoin.tx.fee < 5' }]), setOf([{ condition: 'bitcoin.tx.fee < 6' }]), 'send'),
    ['unknown', 'what such requests have is not documented'],
  ],
  ['too few choices', uses(8), ['unknown', 'unknown']],
  ['enough choices', uses(), []],
  [
    'conditions that are not asked together',
    ({ powersOf }) =>
      powersOf(actualOf(manyConditions), { nowMs: NOW, powers: ['sign'] })
        .flatMap(({ lines }) => lines)
        .filter(({ people }) => people === 'unknown').length,
    1,
  ],
  [
    'twelve or thirteen of twenty, before and after',
    ({ accessBetween }) =>
      accessBetween(crowded(many(13)), crowded(many(12)), { nowMs: NOW }).map((one) => [
        one.power,
        typeof one.before.unknown,
        typeof one.after.unknown,
      ]),
    [['sign', 'string', 'string']],
  ],
  [
    'twelve or thirteen of twenty, compared',
    compared(crowd([{ condition: SIGNS, consensus: many(13) }]), crowd([{ condition: SIGNS, consensus: many(12) }])),
    ['unknown', 'there are too many sets of people to try'],
  ],
]

test.each(CASES)('of %s, what is unknown is told', (_, ask, told) => {
  expect(ask(analysis)).toEqual(told)
})

test.each([
  ['an unknown answer is equal', 'compare.ts', "relation: open.length > 0 ? 'unknown' : told", 'relation: told'],
  ['of several powers one that is unknown is none', 'compare.ts', "if (has('unknown')) return 'unknown'", ''],
  [
    'people who are too many to be tried are the same',
    'compare.ts',
    "if (isSame === undefined) return 'unknown'",
    'if (isSame === undefined) return {}',
  ],
  [
    'where choices are used up nothing is unknown',
    'compare-search.ts',
    "onUnknown(open, [...taking, ...open], 'choices')",
    'void 0',
  ],
  [
    'parts that are compared with each other are passed over',
    'compare-search.ts',
    'this.#input.onUnknown(of.length > 0 ? of : [first], [...taking, ...open], why)',
    'void why',
  ],
  [
    'a budget that is used up is told as no difference',
    'compare.ts',
    'return unknown.size > 0 ? { unknown: [...unknown].sort() } : undefined',
    'return undefined',
  ],
  [
    'what is unknown makes a policy useless',
    'useless.ts',
    "if (difference) return 'unknown' in difference ? { why: 'unknown', ...difference } : undefined",
    "if (difference && !('unknown' in difference)) return undefined",
  ],
  [
    'an unknown answer is unchanged where the other is unknown too',
    'access.ts',
    "const known = other && line.people !== 'unknown' && other.people !== 'unknown'",
    "if (line.people === 'unknown' && other?.people === 'unknown') return true\n      const known = other",
  ],
  [
    'an unknown answer has no reason',
    'access.ts',
    "...(unknown.length > 0 ? { unknown: unknown.join('; ') } : {})",
    '...{}',
  ],
  [
    'conditions that are not asked together are not told',
    'power-lines.ts',
    'if (sizes < groups.length)\n',
    'if (sizes < 0)\n',
  ],
  [
    'too many sets of people are none',
    'power-lines.ts',
    "const people = found === 'gave-up' ? 'unknown' : simplest(",
    "if (found === 'gave-up') return\n    const people = simplest(",
  ],
] as const)('%s: found', async (mistake, file, from, to) => {
  const mistaken = await mutated<Analysis>({ mistake, file: `analysis/${file}`, from, to }, 'analysis/index.ts')
  const isRight = ([, ask, told]: (typeof CASES)[number]) => {
    try {
      return isDeepStrictEqual(ask(mistaken), told)
    } catch {
      return false
    }
  }
  expect(CASES.every(isRight)).toBe(false)
})
