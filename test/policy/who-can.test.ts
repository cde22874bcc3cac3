/** Whoever gets something allowed among themselves, held against trying every vote of every person. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  authorize,
  type CompiledPolicy,
  compilePolicy,
  mayVote,
  type PolicyContext,
  type Voter,
  whoCan,
  writeOut,
} from '../../src/policy/index.ts'
import { runs } from '../runs.ts'

const NAMES = ['ana', 'bob', 'cyd', 'dan', 'eve', 'fay'] as const
const START: PolicyContext = { now: 0n, activity: { type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' }, approvers: [] }

const names = fc.subarray([...NAMES, 'nobody'], { minLength: 1 }).map((some) => `[${some.map((name) => `'${name}'`)}]`)
const name = fc.constantFrom(...NAMES)
const predicate = fc.oneof(
  names.map((some) => `u.id in ${some}`),
  names.map((some) => `!(u.alias in ${some})`),
  name.map((one) => `u.id == '${one}'`),
  fc.constantFrom('ops', 'cfo').map((tag) => `u.tags.contains('${tag}')`),
  fc.constant('approvers.any(v, v.id != u.id)'),
)
const comparison = fc.tuple(fc.constantFrom('>', '>=', '==', '<', '!='), fc.nat(3)).map(([is, to]) => `${is} ${to}`)
const clause = fc.oneof(
  fc.tuple(predicate, comparison).map(([holds, is]) => `approvers.filter(u, ${holds}).count() ${is}`),
  fc.tuple(fc.constantFrom('any', 'all'), predicate).map(([walk, holds]) => `approvers.${walk}(u, ${holds})`),
  comparison.map((is) => `approvers.count() ${is}`),
  fc.constant('approvers.count() in [1, 3]'),
  // Each name of this list is told apart.
  names.map((some) => `${some}.all(one, approvers.any(u, u.id == one))`),
  // Of these counts neither is of a fixed number.
  predicate.map((holds) => `approvers.filter(u, ${holds}).count() < approvers.filter(u, !(${holds})).count()`),
)
const consensus = fc
  .array(clause, { minLength: 1, maxLength: 3 })
  .chain((clauses) => fc.constantFrom(' && ', ' || ').map((by) => clauses.join(by)))
/** Those that hold of the request, that do not, that err, and that no condition may be: only a consensus reads votes. */
const condition = fc.constantFrom(
  undefined,
  "activity.action == 'SIGN'",
  "activity.action == 'CREATE'",
  "wallet.id == 'w'",
  'approvers.count() < 2',
)
const cases = fc.record({
  tags: fc.array(fc.subarray(['cfo', 'ops']), { minLength: NAMES.length, maxLength: NAMES.length }),
  policies: fc.array(fc.record({ denies: fc.constantFrom(false, false, true), consensus, condition }), {
    minLength: 1,
    maxLength: 3,
  }),
  quorum: fc.record({ members: fc.subarray([...NAMES]), threshold: fc.integer({ min: 1, max: 4 }) }),
})

/** The least sets of all that are allowed, each set of votes tried once: no policy here tells in which order they came. */
function leastAllowed(policies: readonly CompiledPolicy[], start: PolicyContext, people: readonly Voter[]) {
  const allowed: (readonly string[])[] = []
  const tried = new Set<string>()
  const vote = (context: PolicyContext, voted: readonly string[]): void => {
    for (const { name, approver } of people) {
      const now = [...voted, name].sort()
      if (voted.includes(name) || (voted.length > 0 && !mayVote(policies, context, approver))) continue
      if (tried.has(now.join())) continue
      tried.add(now.join())
      const next = { ...context, approvers: [...context.approvers, approver] }
      const { outcome } = authorize(policies, next)
      if (outcome === 'OUTCOME_ALLOW') allowed.push(now)
      else if (outcome === 'OUTCOME_REQUIRES_CONSENSUS') vote(next, now)
    }
  }
  vote(start, [])
  const isLeast = (set: readonly string[]) =>
    !allowed.some((other) => other.length < set.length && other.every((one) => set.includes(one)))
  return allowed.filter(isLeast).map((set) => set.join(' '))
}

describe('who can', () => {
  test('all least sets are found, and no other, whatever lists of names and numbers policies compare with', () => {
    let found = 0
    fc.assert(
      fc.property(cases, ({ tags, policies, quorum }) => {
        const people = NAMES.map((id, at): Voter => ({ name: id, approver: { id, alias: id, tags: tags[at]! } }))
        const compiled = policies.map((one, at) =>
          compilePolicy({
            id: `p${at}`,
            name: `p${at}`,
            effect: one.denies ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
            consensus: one.consensus,
            condition: one.condition,
          }),
        )
        expect(compiled.map((one) => one.consensus?.tree === undefined)).toEqual(policies.map(() => false))
        const start = { ...START, rootQuorum: { userIds: quorum.members, threshold: quorum.threshold } }
        const told = whoCan(compiled, start, people)
        if (told === 'gave-up') throw new Error('six people are not too many')
        const sets = writeOut(told).flatMap((size) => size.sets.map((set) => [...set].sort().join(' ')))
        expect(sets.toSorted()).toEqual(leastAllowed(compiled, start, people).toSorted())
        found += sets.length
      }),
      { numRuns: runs(300) },
    )
    expect(found).toBeGreaterThan(300)
  })

  test('policies that take no part and use up what one request may take leave nobody who can', () => {
    const walked = Array.from({ length: 60 }, (_, at) => `'${at}'`).join()
    const dear = Array.from({ length: 60 }, (_, at) =>
      compilePolicy({
        id: `p${at}`,
        name: `p${at}`,
        effect: 'EFFECT_ALLOW',
        consensus: `[${walked}].all(a, [${walked}].all(b, approvers.any(u, u.id != a && u.id != b)))`,
        condition: "activity.action == 'CREATE'",
      }),
    )
    const one = compilePolicy({
      id: 'one',
      name: 'one',
      effect: 'EFFECT_ALLOW',
      consensus: "approvers.any(u, u.id == 'ana')",
    })
    const people = NAMES.slice(0, 2).map((id): Voter => ({ name: id, approver: { id, alias: id, tags: [] } }))
    for (const [policies, expected] of [
      [[one, ...dear.slice(0, 2)], ['ana']],
      [[one, ...dear], []],
    ] as const) {
      const told = whoCan(policies, START, people)
      if (told === 'gave-up') throw new Error('six people are not too many')
      expect(writeOut(told).flatMap(({ sets }) => sets.map((set) => set.join()))).toEqual(expected)
      expect(leastAllowed(policies, START, people)).toEqual(expected)
    }
  })

  test('people who are named by one list are told as so many of them, of however many', () => {
    const ids = Array.from({ length: 60 }, (_, at) => `u${at}`)
    const people = ids.map((id): Voter => ({ name: id, approver: { id, alias: id, tags: at(id) % 3 ? ['a'] : ['b'] } }))
    const told = (consensus: string) =>
      whoCan([compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_ALLOW', consensus })], START, people)
    const board = ids.slice(0, 30)
    const three = told(`approvers.filter(u, u.id in [${board.map((id) => `'${id}'`)}]).count() >= 3`)
    expect(three === 'gave-up' ? three : writeOut(three)).toMatchObject([{ any: { count: 3, of: board.toSorted() } }])
    const tagged = (tag: string, least: number) => `approvers.filter(u, u.tags.contains('${tag}')).count() >= ${least}`
    const eight = told(`${tagged('a', 5)} && ${tagged('b', 3)} && !approvers.any(u, u.id == 'u59')`)
    expect(eight === 'gave-up' ? eight : eight.found).toHaveLength(1)
    // More of the others than of two: three, though no number is written.
    const two = "u.id in ['u0', 'u1']"
    const outnumbered = told(
      `['u0', 'u1'].all(one, approvers.any(u, u.id == one)) && approvers.filter(u, ${two}).count() < approvers.filter(u, !(${two})).count()`,
    )
    expect(outnumbered === 'gave-up' ? outnumbered : outnumbered.found.map((set) => set.toSorted())).toEqual([
      [1, 1, 3],
    ])
  })
})

const at = (id: string) => Number(id.slice(1))
