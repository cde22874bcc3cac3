import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  authorize,
  authorizeInSteps,
  checkText,
  compilePolicy,
  createBudget,
  indexPolicies,
  mayVote,
  type PolicyContext,
  type PolicyField,
  type PolicyText,
  parse,
  print,
} from '../../src/policy/index.ts'
import { limits } from '../../src/policy/limits.ts'
import { runs } from '../runs.ts'
import { anyText, policyField, sentence } from './fuzz-inputs.ts'
import { evaluate } from './harness.ts'
import { judgeText } from './judge-text.ts'

const SEED = 20_260_101

const codes = (text: string) => checkText('condition', text).map(({ code, message }) => `${code}: ${message}`)
const TOO_DEEP = 'policy/too-deep: an expression has at most 64 levels'

describe('limits', () => {
  test('limits: an expression has at most 16 KiB', () => {
    const exact = `wallet.id == '${'a'.repeat(16_384 - 15)}'`
    expect(exact.length).toBe(16_384)
    expect(codes(exact)).toEqual([])
    expect(codes(`${exact} `)).toEqual(['policy/too-long: an expression has at most 16384 bytes'])
    // Bytes, not characters.
    expect(codes(`wallet.id == '${'é'.repeat(8_184)}'`)).toEqual([])
    expect(codes(`wallet.id == '${'é'.repeat(8_185)}'`)).toHaveLength(1)
  })

  test.each([
    ['parentheses', (n: number) => `${'('.repeat(n)}true${')'.repeat(n)}`, 64],
    ['negations', (n: number) => `${'!'.repeat(n)}true`, 63],
    ['lists', (n: number) => `${'['.repeat(n)}${']'.repeat(n)}.count() == 1`, 62],
    ['members', (n: number) => `x${'.a'.repeat(n)}`, 63],
    ['positions', (n: number) => `${'x['.repeat(n)}0${']'.repeat(n)}`, 63],
    ['predicates', (n: number) => `${'[1].any(v, '.repeat(n)}true${')'.repeat(n)}`, 62],
    ['comparisons', (n: number) => `${'true == ('.repeat(n)}true${')'.repeat(n)}`, 63],
    ['arguments', (n: number) => `${'[].contains('.repeat(n)}1${')'.repeat(n)}`, 63],
  ])('limits: %s nest 64 deep and no deeper', (_, nest, most) => {
    expect(codes(nest(most))).not.toContain(TOO_DEEP)
    expect(codes(nest(most + 1))).toContain(TOO_DEEP)
  })

  test('limits: many clauses in a row are not deep', () => {
    const text = Array.from({ length: 700 }, (_, index) => `wallet.id == 'w${index}'`).join(' || ')
    expect(codes(text)).toEqual([])
    expect(evaluate('condition', text, { wallet: { id: 'w699' } })).toBe('true')
    expect(print(parse(text).tree!)).toBe(text)
  })

  test('limits: nested predicates end in an error, not in a stalled service', () => {
    const nested = `${'[1, 2, 3].all(v, '.repeat(60)}true${')'.repeat(60)}`
    expect(evaluate('condition', nested)).toBe('TooManySteps')
    const consensus = `${'approvers.any(v, '.repeat(60)}false${')'.repeat(60)}`
    const approvers = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
    expect(evaluate('consensus', consensus, { approvers })).toBe('TooManySteps')
    // Inclusion walks the same predicates.
    const included = `false && approvers.any(u, ${'approvers.any(v, '.repeat(12)}v.id == 'x'${')'.repeat(12)})`
    expect(evaluate('consensus', included, { approvers: [{ id: 'a' }] })).toBe('false')
  })
})

describe('fuzz', () => {
  test('fuzz: texts that nobody wrote neither crash nor hang', () => {
    let seen = 0
    const judge = (text: string, field: PolicyField) => {
      seen++
      judgeText(field, text)
    }
    fc.assert(fc.property(sentence, policyField, judge), { seed: SEED, numRuns: runs(3_200) })
    fc.assert(fc.property(anyText, policyField, judge), { seed: SEED, numRuns: runs(800) })
    expect(seen).toBe(runs(4_000))
  })
})

describe('budget', () => {
  const base: PolicyContext = {
    now: 0n,
    activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
    approvers: [{ id: 'ana' }],
  }
  const policy = (id: string, effect: PolicyText['effect'], condition: string) =>
    compilePolicy({ id, name: id, effect, condition })
  const nine = '[1, 2, 3, 4, 5, 6, 7, 8, 9]'
  /** Takes about 200,000 steps by itself. */
  const dear = `${nine}.all(a, ${nine}.all(b, ${nine}.all(c, ${nine}.all(d, ${nine}.all(e, e > 0)))))`
  const rootQuorum = { userIds: ['ana', 'ben'], threshold: 2 }

  test('budget: a policy that takes too many steps by itself is an error, and takes no part', () => {
    const tooDear = `${nine}.all(z, ${nine}.all(y, ${dear}))`
    const decision = authorize([policy('dear', 'EFFECT_DENY', tooDear), policy('all', 'EFFECT_ALLOW', 'true')], base)
    expect(decision.outcome).toBe('OUTCOME_ALLOW')
    expect(decision.policies[0]!.error?.kind).toBe('TooManySteps')
  })

  test.each([
    [1, 'OUTCOME_ALLOW'],
    [40, 'OUTCOME_DENY_IMPLICIT'],
  ])('budget: %i dear policies and one that allows: %s', (count, outcome) => {
    const policies = Array.from({ length: count }, (_, at) => policy(`p${at}`, 'EFFECT_DENY', `!${dear}`))
    const all = [...policies, policy('all', 'EFFECT_ALLOW', 'true')]
    // Whatever stands first is evaluated first, and the outcome is the same.
    for (const given of [all, all.toReversed(), indexPolicies(all)])
      expect(authorize(given, base).outcome).toBe(outcome)
  })

  test('budget: what is not evaluated cannot be what lets a request through', () => {
    const policies = [
      ...Array.from({ length: 40 }, (_, at) => policy(`p${at}`, 'EFFECT_ALLOW', dear)),
      policy('vault', 'EFFECT_DENY', "wallet.label == 'vault'"),
    ]
    const context = { ...base, wallet: { id: 'w', label: 'vault' } }
    const decision = authorize(policies, context)
    expect(decision).toMatchObject({ outcome: 'OUTCOME_DENY_IMPLICIT', basis: 'nothing-allows' })
    expect(decision.policies.at(-1)!.error?.kind).toBe('TooManySteps')
    // Nor does the way of one's own credentials, which a DENY would have closed.
    const own = { ...base, activity: { type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2' }, targetUserId: 'ana' }
    expect(authorize([], own).basis).toBe('own-credentials')
    expect(authorize(policies, own).outcome).toBe('OUTCOME_DENY_IMPLICIT')
  })

  test('budget: what is decided in steps is decided alike, whatever there is and however many steps', () => {
    const conditions = ['true', "wallet.label == 'vault'", 'wallet.nothing', `${nine}.all(a, a > 0)`, dear]
    const policies = fc.array(
      fc.record({
        effect: fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_DENY' as const),
        condition: fc.constantFrom(...conditions),
        consensus: fc.constantFrom(undefined, "approvers.any(u, u.id == 'ben')"),
      }),
      { maxLength: 6 },
    )
    const items = fc.array(fc.constantFrom('vault', 'hot'), { maxLength: 3 })
    const quorum = fc.constantFrom(undefined, rootQuorum, { userIds: ['ana'], threshold: 1 })
    const check = (
      texts: readonly Pick<PolicyText, 'effect' | 'condition' | 'consensus'>[],
      labels: readonly string[],
      rootQuorum: PolicyContext['rootQuorum'],
      given: readonly [steps: number, left: number],
    ) => {
      const [steps, left] = given
      const all = texts.map((text, at) => compilePolicy({ id: `p${at}`, name: `p${at}`, ...text }))
      const batch = labels.map((label) => ({ wallet: { id: 'w', label } }))
      const context = { ...base, batch, ...(rootQuorum && { rootQuorum }) }
      const [atOnce, inSteps] = [0, 0].map(() => ({ ...createBudget(), steps: left }))
      const expected = authorize(all, context, atOnce!)
      const begun = authorizeInSteps(indexPolicies(all), context, inSteps!, { steps })
      let before = left
      let next = begun.next()
      for (; !next.done; next = begun.next()) {
        // What was left before the mark, and the one policy that passes it.
        expect(before - inSteps!.steps).toBeLessThanOrEqual(steps + 300_000)
        before = inSteps!.steps
      }
      expect(next.value).toEqual(expected)
      expect(inSteps!.steps).toBe(atOnce!.steps)
    }
    const amounts = fc.tuple(fc.constantFrom(1, 1_000, 150_000), fc.constantFrom(100, 300_000, limits.stepsOfRequest))
    fc.assert(fc.property(policies, items, quorum, amounts, check), { seed: SEED, numRuns: 25 })
  })

  test('budget: the root quorum is not held up by it', () => {
    const policies = Array.from({ length: 40 }, (_, at) => policy(`p${at}`, 'EFFECT_ALLOW', dear))
    const begun = { ...base, rootQuorum }
    expect(authorize(policies, begun)).toMatchObject({ outcome: 'OUTCOME_REQUIRES_CONSENSUS', basis: 'quorum-begun' })
    expect(mayVote(policies, begun, { id: 'ben' })).toBe(true)
    expect(authorize(policies, { ...begun, approvers: [{ id: 'ana' }, { id: 'ben' }] }).outcome).toBe('OUTCOME_ALLOW')
  })

  test('budget: the items of a batch share one', () => {
    const item = { wallet: { id: 'w' } }
    const allowing = [policy('all', 'EFFECT_ALLOW', dear)]
    expect(authorize(allowing, { ...base, batch: [item, item] }).outcome).toBe('OUTCOME_ALLOW')
    expect(authorize(allowing, { ...base, batch: Array(100).fill(item) }).outcome).toBe('OUTCOME_DENY_IMPLICIT')
  })

  test('budget: so do a look at who may vote and the decision after it', () => {
    const allowing = [policy('all', 'EFFECT_ALLOW', dear)]
    const budget = createBudget()
    let looks = 0
    while (mayVote(allowing, base, { id: 'ben' }, undefined, budget)) looks++
    expect(looks).toBeGreaterThan(1)
    expect(looks).toBeLessThan(limits.stepsOfRequest / 100_000)
    expect(authorize(allowing, base, budget).outcome).toBe('OUTCOME_DENY_IMPLICIT')
  })

  const data = `0x${'aB'.repeat(240_000)}`
  const instructions = Array.from({ length: 20_000 }, (_, at) => ({ program_key: `p${at % 7}`, accounts: [] }))
  const eth = { tx: { data, to: '0xab' } }
  const solana = { tx: { instructions } }
  test.each([
    ['a slice far into a text', 'eth.tx.data[479990..480000] == 0', { eth }, 120_000],
    ['a comparison of two long texts', 'eth.tx.data == eth.tx.data', { eth }, 240_000],
    ['a walk of a long list', "solana.tx.instructions.all(i, i.program_key == 'p1')", { solana }, 80_000],
    ['a copy of a long list', 'solana.tx.instructions[0..20000].count() == 1', { solana }, 20_000],
    [
      'a long text without a declared type',
      "eth.eip_712.message['a'] == 'x'",
      { eth: { eip_712: { message: { a: data } } } },
      120_000,
    ],
  ])('budget: %s costs its length', (_, condition, context, least) => {
    const budget = createBudget()
    authorize([policy('p', 'EFFECT_DENY', condition.replace('== 0', "== '0x'"))], { ...base, ...context }, budget)
    expect(limits.stepsOfRequest - budget.steps).toBeGreaterThanOrEqual(least)
    expect(limits.stepsOfRequest - budget.steps).toBeLessThan(2.1 * least)
  })

  test('budget: the first characters of a long text cost no more than those of a short one', () => {
    const taken = (text: string) => {
      const budget = createBudget()
      authorize(
        [policy('p', 'EFFECT_DENY', "eth.tx.data[2..10] == '0x'")],
        { ...base, eth: { tx: { data: text } } },
        budget,
      )
      return limits.stepsOfRequest - budget.steps
    }
    expect(taken(data)).toBe(taken(data.slice(0, 20)))
  })
})
