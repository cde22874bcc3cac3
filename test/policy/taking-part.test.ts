/** Which policies take part, and what the others cost, held against evaluating each of them by itself. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePolicy, createCompiler, holds } from '../../src/policy/compiled-policy.ts'
import { createBudget, createFrame } from '../../src/policy/frame.ts'
import { authorize, mayVote, type PolicyContext, type PolicyText } from '../../src/policy/index.ts'
import { takingPart } from '../../src/policy/taking-part.ts'
import { runs } from '../runs.ts'

const REQUEST: PolicyContext = {
  now: 0n,
  activity: { type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', params: { payload: 'x'.repeat(8_000) } },
  approvers: [],
}
const word = fc.constantFrom('a', 'bob', 'SIGN', 'EXPORT', '', 'x'.repeat(80))
const written = (texts: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...texts), word, word)
    .map(([text, one, other]) => text.replace('%', one).replace('%', other))
const clause = written([
  "activity.action == '%'",
  "activity.kind == '%'",
  "activity.action in ['%', '%']",
  "wallet.id == '%'",
  "(activity.action == '%' || activity.action == '%')",
  "!(activity.action == '%')",
  "activity.params.payload == '%'",
  'true',
  '1 < ',
])
const consensus = written([
  "approvers.any(u, u.id == '%')",
  "approvers.filter(u, u.id in ['%', '%']).count() >= 1",
  "approvers.any(u, u.tags.contains('%') && approvers.any(v, v.id == '%'))",
  "approvers.any(u, u.email[0..1] == '%')",
  "approvers[0].id == '%'",
  "approvers.any(u, 'it''s' == '%')",
  `approvers.any(u, u.id == "%'%")`,
  "time.now < Timestamp('%')",
  "approvers.any(u, u.id == '%",
])
const conditions = fc.array(clause, { minLength: 1, maxLength: 4 }).map((clauses) => clauses.join(' && '))
const policies = fc.array(
  fc.record({
    id: fc.constant('p'),
    name: fc.constant('p'),
    effect: fc.constant<PolicyText['effect']>('EFFECT_ALLOW'),
    consensus: fc.option(consensus, { nil: undefined }),
    condition: fc.option(conditions, { nil: undefined }),
  }),
  { minLength: 1, maxLength: 12 },
)
const people = ['a', 'bob'].map((id) => ({ id, alias: id, email: `${id}@acme.test`, tags: [id, 'x', 'y'] }))

test('a policy whose condition does not hold takes no part, and takes no more steps than are said, whatever stands in quotes', () => {
  fc.assert(
    fc.property(policies, (texts) => {
      const { taking, stepsOfOthers } = takingPart(texts.map(createCompiler()), REQUEST)
      const taken = new Set(taking.map(({ policy }) => policy))
      const others = texts.filter((one) => !taken.has(one)).map(compilePolicy)
      for (const { condition } of others) expect(holds(condition, createFrame(REQUEST))).not.toBe(true)
      // What takes part although it does not hold is what nothing bounds.
      const bounded = (one: PolicyText) => takingPart([compilePolicy({ ...one, condition: 'false' })], REQUEST).taking
      for (const one of taken)
        if (bounded(one).length === 0) expect(holds(compilePolicy(one).condition, createFrame(REQUEST))).toBe(true)
      const voted = { ...REQUEST, approvers: people }
      for (const ask of [
        (budget: ReturnType<typeof createBudget>) => authorize(others, voted, budget),
        (budget: ReturnType<typeof createBudget>) => mayVote(others, voted, people[0]!, undefined, budget),
      ]) {
        const budget = createBudget()
        const before = budget.steps
        ask(budget)
        expect(before - budget.steps).toBeLessThanOrEqual(stepsOfOthers(voted))
      }
    }),
    { numRuns: runs(300) },
  )
})

test('of texts that differ in what stands in quotes alone one consensus is compiled', () => {
  const compiled: string[] = []
  const watched = (id: string) => {
    const whole = compilePolicy({
      id,
      name: id,
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(u, u.id == '${id}')`,
      condition: "activity.action == 'EXPORT'",
    })
    return {
      ...whole,
      get consensus() {
        compiled.push(id)
        return whole.consensus
      },
    }
  }
  expect(takingPart(['a', 'b', 'c'].map(watched), REQUEST).taking).toEqual([])
  expect(compiled).toEqual(['a'])
})

test('each policy pays for a clause that is evaluated once for many', () => {
  const eth = { tx: { data: `0x${'ab'.repeat(4_000)}` } }
  const condition = "eth.tx.data[0..4000] == '0x' && activity.action == 'NONE'"
  const many = Array.from({ length: 20 }, (_, n) => `${n}`).map((id) =>
    compilePolicy({ id, name: id, effect: 'EFFECT_ALLOW', condition }),
  )
  const { taking, stepsOfOthers } = takingPart(many, { ...REQUEST, eth } as PolicyContext)
  expect(taking).toEqual([])
  expect(stepsOfOthers(REQUEST)).toBeGreaterThan(20 * 1_000)
})
