/** Laws of the answers to who can do what: what changes nothing of an organization changes no answer, and more of some things only ever changes it one way. Each is broken by one mistake in the analysis at least: one of them in `npm test`, and all in the long tests. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type * as analysis from '../../src/analysis/index.ts'
import type { PolicySet, PowerRow } from '../../src/analysis/index.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { startState } from '../../src/analysis/state.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { actualOf, idFor, key, live } from '../plan/organization.ts'
import { runs } from '../runs.ts'
import {
  COLD,
  linesFor,
  NAMES,
  NOW,
  organizationIn,
  requestsOf,
  type Shape,
  setsOf,
  shapes,
  TO,
  TYPES,
  toldFor,
} from './generated.ts'
import { type Mutant, mutated } from './mutated.ts'

const ASKED = { nowMs: NOW, powers: ['sign', 'export', 'policies'] } as const

/** What a law is about: the analysis, or one with a mistake in it. */
type Analysis = Pick<typeof analysis, 'accessBetween' | 'comparePolicies' | 'powersOf'>
type Asked = Analysis & { readonly rowsOf: (resources: readonly Resource[]) => readonly PowerRow[] }

interface Law {
  readonly name: string
  readonly holds: (asked: Asked) => fc.IProperty<[Shape, Shape, number]>
  /** Whether enough of what the law is about has come up. */
  readonly cameUp?: () => boolean
  /** It breaks the law. */
  readonly mutant: Mutant
}

const mistake = (mistake: string, file: string, from: string, to: string): Mutant => ({ mistake, file, from, to })

/** A law over one organization, and another where it takes two; a number chooses what else there is to choose. */
function law(
  name: string,
  holds: (asked: Asked, shape: Shape, seed: number, other: Shape) => void,
  mutant: Mutant,
  cameUp?: () => boolean,
): Law {
  return {
    name,
    mutant,
    holds: (asked) => fc.property(shapes, shapes, fc.nat(), (shape, other, seed) => holds(asked, shape, seed, other)),
    ...(cameUp ? { cameUp } : {}),
  }
}

/** Rows in no order, without the names of policies unless they are wanted, people as they are called. */
function plain(
  rows: readonly PowerRow[],
  named: (policy: string) => string = () => '',
  called = (person: string) => person,
): readonly string[] {
  const peopleOf = (set: string) => set.split(' ').map(called).sort().join()
  return rows
    .map(({ lines, ...row }) => {
      const names = (policies: readonly string[]) => [...new Set(policies.map(named))].sort()
      const told = lines.map(({ people: _, policies, deniedBy = [], ...line }, index) =>
        JSON.stringify([line, names(policies), names(deniedBy), setsOf(lines[index]!).map(peopleOf).sort()]),
      )
      return JSON.stringify([row, told.sort()])
    })
    .sort()
}

/** The same things in an order that the seed decides. */
function shuffled<T>(things: readonly T[], seed: number): readonly T[] {
  const keyed = things.map((thing, index) => [Math.sin(seed + index * 7919), thing] as const)
  return keyed.sort(([a], [b]) => a - b).map(([, thing]) => thing)
}

function setOf(resources: readonly Resource[]): PolicySet {
  const policies = policiesOf(startState(actualOf(resources)), createPolicyCompiler()).map(({ policy }) => policy)
  const wallets = resources.flatMap(({ kind, id, name }) => (kind === 'wallet' ? [{ id: id!, label: name }] : []))
  return { policies, organization: organizationOf(resources), wallets }
}

/** With members in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, sorted(member)] as const)
      .sort(([x], [y]) => (x < y ? -1 : 1)),
  )
}

/** Other names for these, in an order that the seed decides. */
function otherNames(names: readonly string[], seed: number): ReadonlyMap<string, string> {
  const others = shuffled(names, seed)
  return new Map(names.map((name, index) => [name, `z-${others[index]!}`]))
}

const differing = { count: 0 }
const split = { equal: 0, narrower: 0 }
const withVoter = { count: 0 }
const denied = { count: 0 }

const TWO_ASKED = mistake(
  'of the policies that apply two are asked',
  'analysis/power-lines.ts',
  'applying.map(({ rule }) => [rule.consensusSerial, rule.consensus])',
  'applying.slice(0, 2).map(({ rule }) => [rule.consensusSerial, rule.consensus])',
)

export const LAWS: readonly Law[] = [
  law(
    'the same organization has the same answer, to the byte',
    ({ rowsOf }, shape) => {
      expect(JSON.stringify(rowsOf(organizationIn(shape)))).toBe(JSON.stringify(rowsOf(organizationIn(shape))))
    },
    mistake(
      'names come in any order',
      'analysis/power-lines.ts',
      '[...new Set(texts)].sort()',
      '[...new Set(texts)].sort(() => Math.random() - 0.5)',
    ),
  ),
  law(
    'the order in which things are listed changes nothing',
    ({ rowsOf }, shape, seed) => {
      const resources = organizationIn(shape)
      expect(plain(rowsOf(shuffled(resources, seed)), (name) => name)).toEqual(plain(rowsOf(resources), (name) => name))
    },
    TWO_ASKED,
  ),
  law(
    'other names of policies change no more than these names',
    ({ rowsOf }, shape, seed) => {
      const resources = organizationIn(shape)
      const names = otherNames(
        resources.flatMap(({ kind, name }) => (kind === 'policy' ? [name] : [])),
        seed,
      )
      const renamed = resources.map((one) => (one.kind === 'policy' ? { ...one, name: names.get(one.name)! } : one))
      expect(plain(rowsOf(renamed), (name) => name)).toEqual(plain(rowsOf(resources), (name) => names.get(name)!))
    },
    mistake(
      'of the policies the first is named',
      'analysis/power-lines.ts',
      '[...new Set(texts)].sort()',
      '[...new Set(texts)].sort().slice(0, 1)',
    ),
  ),
  law(
    'other names of tags, and of people whom no policy knows by name, change no more than these names',
    ({ rowsOf }, shape, seed) => {
      const resources = organizationIn(shape)
      const names = otherNames(
        NAMES.filter((name) => name !== 'dave'),
        seed,
      )
      const renamed = resources.map((one) => {
        const name = one.kind === 'tag' ? 'other' : one.kind === 'user' ? (names.get(one.name) ?? one.name) : one.name
        return { ...one, name }
      })
      const called = (name: string) => names.get(name) ?? name
      expect(plain(rowsOf(renamed), (name) => name)).toEqual(plain(rowsOf(resources), (name) => name, called))
    },
    mistake(
      'of people who are alike the first three are told',
      'analysis/power-lines.ts',
      'ids.map((id) => names.get(id)!)',
      'ids.map((id) => names.get(id)!).sort().slice(0, 3)',
    ),
  ),
  law(
    'what changes from one organization to another mirrors what changes back',
    ({ accessBetween }, one, seed, other) => {
      const [fewer, others] = [one.policies.slice(1), other.policies]
      const next = [other, { ...one, policies: fewer }, { ...one, policies: others }][seed % 3]!
      const [a, b] = [organizationIn(one), organizationIn(next)]
      const [there, back] = [accessBetween(a, b, { nowMs: NOW }), accessBetween(b, a, { nowMs: NOW })]
      const mirrored = back.map(({ before, after, ...row }) => ({ ...row, before: after, after: before }))
      const texts = (changes: readonly object[]) => changes.map((change) => JSON.stringify(sorted(change))).sort()
      expect(texts(there)).toEqual(texts(mirrored))
      expect(accessBetween(a, a, { nowMs: NOW })).toEqual([])
      differing.count += Number(there.length > 0)
    },
    mistake('a policy that is gone touches nothing', 'analysis/access.ts', '...surplus(had, has), ', ''),
    () => differing.count > runs(60) / 3,
  ),
  law(
    'a policy twice is as once',
    ({ rowsOf }, shape, seed) => {
      const one = shape.policies[seed % Math.max(1, shape.policies.length)]
      const twice = { ...shape, policies: [...(one ? [one] : []), ...shape.policies] }
      expect(plain(rowsOf(organizationIn(twice)))).toEqual(plain(rowsOf(organizationIn(shape))))
    },
    TWO_ASKED,
  ),
  law(
    'somebody who cannot vote changes nothing',
    ({ rowsOf }, shape) => {
      const resources = organizationIn(shape)
      const stranger = live('user.stranger', { tags: [idFor('tag.ops')], email: 'cat@acme.test' })
      expect(plain(rowsOf([...resources, stranger]), (name) => name)).toEqual(plain(rowsOf(resources), (name) => name))
    },
    mistake(
      'who has no credential may vote',
      'analysis/power-lines.ts',
      'people: readonly Voter[] = votersIn(organization, nowMs)',
      'people: readonly Voter[] = organization.users.map(({ id, name, tags, email }: any) => ({ name, approver: { id, alias: name, tags, email } })) as any',
    ),
  ),
  law(
    'somebody more who can vote changes nothing of what the others can do among themselves',
    ({ rowsOf }, shape) => {
      const resources = organizationIn(shape)
      const erin = [live('user.erin', { tags: [], email: 'erin@acme.test' }), live('apiKey.erin.k', key('erin'))]
      const [before, after] = [rowsOf(resources), rowsOf([...resources, ...erin])]
      for (const type of TYPES) {
        const withoutErin = (rows: readonly PowerRow[]) =>
          linesFor(rows, type, COLD)
            .map((line) => [
              line.condition,
              line.unless,
              setsOf(line)
                .filter((set) => !set.split(' ').includes('erin'))
                .toSorted(),
            ])
            .filter(([, , sets]) => sets!.length > 0)
            .map((line) => JSON.stringify(line))
            .sort()
        expect(withoutErin(after)).toEqual(withoutErin(before))
        withVoter.count += Number(JSON.stringify(after).includes('"erin"'))
      }
    },
    mistake(
      'one fewer of each sort of people is tried',
      'policy/coalitions.ts',
      'const member = members[used[of]!]',
      'const member = members.slice(0, -1)[used[of]!]',
    ),
    () => withVoter.count > runs(60) / 2,
  ),
  law(
    'a DENY without a condition gives nobody a power, alone or with others',
    ({ rowsOf, comparePolicies }, shape, seed) => {
      const deny = {
        effect: 'deny' as const,
        condition: 'true',
        consensus: shape.policies[seed % 10]?.consensus ?? null,
      }
      const [before, after] = [shape, { ...shape, policies: [...shape.policies, deny] }].map(organizationIn)
      const [had, has] = [rowsOf(before!), rowsOf(after!)]
      for (const type of TYPES)
        for (const request of requestsOf(type, COLD)) {
          const were = toldFor(linesFor(had, type, COLD), request)
          const are = toldFor(linesFor(has, type, COLD), request)
          const isIn = (set: string) =>
            were.some((one) => one.split(' ').every((name) => set.split(' ').includes(name)))
          expect(are.filter((set) => !isIn(set))).toEqual([])
          denied.count += Number(are.length < were.length)
        }
      const powers = ['sign', 'export'] as const
      for (const { relation } of comparePolicies(setOf(before!), setOf(after!), { nowMs: NOW, powers }))
        expect(['equal', 'narrower', 'unknown']).toContain(relation)
    },
    mistake(
      'a DENY is taken for an ALLOW',
      'analysis/power-lines.ts',
      'whoCan([...distinct.values()]',
      "whoCan([...distinct.values()].map((one) => ({ ...one, policy: { ...one.policy, effect: 'EFFECT_ALLOW' as const } }))",
    ),
    () => denied.count > runs(60) / 2,
  ),
  splitLaw(),
  law(
    'two sets of policies, the other way round: what was wider is narrower',
    ({ comparePolicies }, one, _, other) => {
      const mirror = {
        equal: 'equal',
        wider: 'narrower',
        narrower: 'wider',
        incomparable: 'incomparable',
        unknown: 'unknown',
      }
      // The same people: two sets of policies are compared, not two teams.
      const [first, second] = [one, { ...other, people: one.people, threshold: one.threshold }].map((shape) =>
        setOf(organizationIn(shape)),
      )
      const told = (a: PolicySet, b: PolicySet) => comparePolicies(a, b, { nowMs: NOW, powers: ['sign', 'export'] })
      const relations = told(first!, second!).map(({ relation }) => mirror[relation])
      expect(told(second!, first!).map(({ relation }) => relation)).toEqual(relations)
    },
    mistake(
      'who may do less is who may do more',
      'analysis/compare.ts',
      'smallestSets(without(a!, b!))',
      'smallestSets(without(b!, a!))',
    ),
  ),
]

function splitLaw(): Law {
  const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"
  // All of one row err for the same requests: of other chains, or for none. (An amount errs by itself where no `int` holds it.)
  const rows = [
    ['eth.tx.nonce > 5', `eth.tx.to == '${TO}'`, '!(eth.tx.nonce == 10)'],
    ['solana.tx.transfers.count() > 1', 'solana.tx.transfers.count() == 0'],
    ["wallet.label == 'hot'", `wallet.id == '${idFor('wallet.cold')}'`, '!wallet.exported'],
  ] as const
  const sides = rows.flatMap((row, at) => row.map((text) => ({ text, at })))
  return law(
    'a DENY split by || is not equal where one side errs as the other holds, and else it is',
    ({ comparePolicies }, shape, seed) => {
      // Where everybody alone is the root quorum, no policy matters.
      fc.pre(shape.threshold > 1 || shape.people.some(({ isMember }) => !isMember))
      const [a, b] = [sides[seed % sides.length]!, sides[Math.floor(seed / sides.length) % sides.length]!]
      const allow = { effect: 'allow' as const, condition: SIGNS, consensus: null }
      const deny = (condition: string) => ({
        effect: 'deny' as const,
        condition: `${SIGNS} && (${condition})`,
        consensus: null,
      })
      const set = (...denials: readonly string[]) =>
        setOf(organizationIn({ ...shape, policies: [allow, ...denials.map(deny)] }))
      const whole = set(`${a.text} || ${b.text}`)
      const [row] = comparePolicies(whole, set(a.text, b.text), { nowMs: NOW, powers: ['sign'] })
      const expected = a.at === b.at ? 'equal' : 'narrower'
      expect([a.text, b.text, row!.relation]).toEqual([a.text, b.text, expected])
      split[expected]++
    },
    mistake(
      'what errs is taken to be false',
      'analysis/compare.ts',
      "return holds === undefined ? 'error' : holds",
      "return holds === undefined ? 'false' : holds",
    ),
    () => Math.min(split.equal, split.narrower) > runs(60) / 10,
  )
}

export const asked = (one: Analysis): Asked => ({
  ...one,
  rowsOf: (resources) => one.powersOf(actualOf(resources), ASKED),
})

/** Tries a law on the analysis with its mistake. */
export async function expectBroken({ holds, mutant }: Law): Promise<void> {
  const mistaken = await mutated<Analysis>(mutant, 'analysis/index.ts')
  const { errorInstance } = fc.check(holds(asked(mistaken)), { numRuns: 300, seed: 20_261_127, endOnFailure: true })
  expect(errorInstance).toMatchObject({ name: 'AssertionError' })
}
