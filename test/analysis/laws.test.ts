/** Laws of the answers to who can do what: what changes nothing of an organization changes no answer, and more of some things only ever changes it one way. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessBetween, comparePolicies, type PolicySet, type PowerRow, powersOf } from '../../src/analysis/index.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { startState } from '../../src/analysis/state.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { actualOf, idFor, live } from '../plan/organization.ts'
import { runs } from '../runs.ts'
import { NOW, organizationIn, type Shape, setsOf, shapes, TO } from './generated.ts'

const ASKED = { nowMs: NOW, powers: ['sign', 'export', 'policies'] } as const
const rowsOf = (resources: readonly Resource[]) => powersOf(actualOf(resources), ASKED)

/** Rows in no order, without the names of policies unless they are wanted. */
function plain(rows: readonly PowerRow[], named: (policy: string) => string = () => ''): readonly string[] {
  return rows
    .map(({ lines, ...row }) => {
      const names = (policies: readonly string[]) => [...new Set(policies.map(named))].sort()
      const told = lines.map(({ people: _, policies, deniedBy = [], ...line }, index) =>
        JSON.stringify([line, names(policies), names(deniedBy), setsOf(lines[index]!).toSorted()]),
      )
      return JSON.stringify([row, told.sort()])
    })
    .sort()
}

const law = (name: string, holds: (shape: Shape, seed: number) => void) =>
  test(name, () => {
    fc.assert(fc.property(shapes, fc.nat(), holds), { numRuns: runs(60) })
  })

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

describe('laws of who can', () => {
  law('the same organization has the same answer, to the byte', (shape) => {
    expect(JSON.stringify(rowsOf(organizationIn(shape)))).toBe(JSON.stringify(rowsOf(organizationIn(shape))))
  })

  law('the order in which things are listed changes nothing', (shape, seed) => {
    const resources = organizationIn(shape)
    expect(plain(rowsOf(shuffled(resources, seed)), (name) => name)).toEqual(plain(rowsOf(resources), (name) => name))
  })

  law('other names of policies change no more than these names', (shape) => {
    const resources = organizationIn(shape)
    const renamed = resources.map((one) => (one.kind === 'policy' ? { ...one, name: `z ${one.name}` } : one))
    expect(plain(rowsOf(renamed), (name) => name)).toEqual(plain(rowsOf(resources), (name) => `z ${name}`))
  })

  test('what changes from one organization to another mirrors what changes back', () => {
    let differing = 0
    fc.assert(
      fc.property(shapes, shapes, (one, other) => {
        const [a, b] = [organizationIn(one), organizationIn(other)]
        const [there, back] = [accessBetween(a, b, { nowMs: NOW }), accessBetween(b, a, { nowMs: NOW })]
        const mirrored = back.map(({ before, after, ...row }) => ({ ...row, before: after, after: before }))
        const texts = (changes: readonly object[]) => changes.map((change) => JSON.stringify(sorted(change))).sort()
        expect(texts(there)).toEqual(texts(mirrored))
        expect(accessBetween(a, a, { nowMs: NOW })).toEqual([])
        differing += Number(there.length > 0)
      }),
      { numRuns: runs(60) },
    )
    expect(differing).toBeGreaterThan(runs(60) / 2)
  })

  law('a policy twice is as once', (shape) => {
    const twice = { ...shape, policies: [...shape.policies, ...shape.policies.slice(0, 1)] }
    expect(plain(rowsOf(organizationIn(twice)))).toEqual(plain(rowsOf(organizationIn(shape))))
  })

  law('somebody who cannot vote changes nothing', (shape) => {
    const resources = organizationIn(shape)
    const stranger = live('user.stranger', { tags: [idFor('tag.ops')], email: 'cat@acme.test' })
    expect(plain(rowsOf([...resources, stranger]), (name) => name)).toEqual(plain(rowsOf(resources), (name) => name))
  })

  law('a DENY without a condition lets nobody in', (shape, seed) => {
    const deny = { effect: 'deny' as const, condition: 'true', consensus: shape.policies[seed % 5]?.consensus ?? null }
    const [first, second] = [shape, { ...shape, policies: [...shape.policies, deny] }].map((one) =>
      setOf(organizationIn(one)),
    )
    for (const { relation } of comparePolicies(first!, second!, { nowMs: NOW, powers: ['sign', 'export'] }))
      expect(['equal', 'narrower', 'unknown']).toContain(relation)
  })

  test('a DENY split by || is not equal where one side errs as the other holds, and else it is', () => {
    const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"
    // All of one row err for the same requests: of other chains, or for none. (An amount errs by itself where no `int` holds it.)
    const rows = [
      ['eth.tx.nonce > 5', `eth.tx.to == '${TO}'`, '!(eth.tx.nonce == 10)'],
      ['solana.tx.transfers.count() > 1', 'solana.tx.transfers.count() == 0'],
      ["wallet.label == 'hot'", `wallet.id == '${idFor('wallet.cold')}'`, '!wallet.exported'],
    ] as const
    const side = fc.constantFrom(...rows.flatMap((row, at) => row.map((text) => ({ text, at }))))
    const told = { equal: 0, narrower: 0 }
    fc.assert(
      fc.property(shapes, side, side, (shape, a, b) => {
        // Where everybody alone is the root quorum, no policy matters.
        fc.pre(shape.threshold > 1 || shape.people.some(({ isMember }) => !isMember))
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
        told[expected]++
      }),
      { numRuns: runs(60) },
    )
    expect(Math.min(told.equal, told.narrower)).toBeGreaterThan(runs(60) / 10)
  })

  test('two sets of policies, the other way round: what was wider is narrower', () => {
    const mirror = {
      equal: 'equal',
      wider: 'narrower',
      narrower: 'wider',
      incomparable: 'incomparable',
      unknown: 'unknown',
    }
    fc.assert(
      fc.property(shapes, shapes, (one, other) => {
        // The same people: two sets of policies are compared, not two teams.
        const [first, second] = [one, { ...other, people: one.people, threshold: one.threshold }].map((shape) =>
          setOf(organizationIn(shape)),
        )
        const told = (a: PolicySet, b: PolicySet) => comparePolicies(a, b, { nowMs: NOW, powers: ['sign', 'export'] })
        const relations = told(first!, second!).map(({ relation }) => mirror[relation])
        expect(told(second!, first!).map(({ relation }) => relation)).toEqual(relations)
      }),
      { numRuns: runs(60) },
    )
  })
})
