import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  authorize,
  checkText,
  compilePolicy,
  type PolicyContext,
  type PolicyText,
  parse,
  print,
} from '../../src/policy/index.ts'
import { runs } from '../runs.ts'
import { readPolicyCases } from './cases.ts'
import { anyTree, shapeOf, tapes, typedCondition, typedContext } from './generate.ts'

describe('properties: print', () => {
  test('properties: parsing what was printed gives the same tree, and printing it the same text', () => {
    fc.assert(
      fc.property(tapes(60), (choices) => {
        const tree = anyTree(choices, 4)
        const text = print(tree)
        const parsed = parse(text)
        expect(parsed.problems, text).toEqual([])
        expect(shapeOf(parsed.tree)).toEqual(shapeOf(tree))
        expect(print(parsed.tree!)).toBe(text)
      }),
      { numRuns: runs(250) },
    )
  })

  test('properties: every published case prints and parses back to its tree', () => {
    let seen = 0
    for (const { policies } of readPolicyCases())
      for (const { condition, consensus, time } of policies)
        for (const text of [condition, consensus, time]) {
          const { tree, problems } = text ? parse(text) : { tree: undefined, problems: [] }
          if (tree === undefined || problems.length > 0) continue
          seen++
          expect(shapeOf(parse(print(tree)).tree)).toEqual(shapeOf(tree))
        }
    expect(seen).toBeGreaterThan(150)
  })

  test.each([
    ['a&&b||c', '(a && b) || c'],
    ['a||b&&c', 'a || (b && c)'],
    ['(a&&b)&&c', '(a && b) && c'],
    ['((a))&&b&&c', 'a && b && c'],
    ['!(a==b)', '!(a == b)'],
    ['!a==b', '!a == b'],
    ['(a in b)==c', '(a in b) == c'],
    ['(!a).b', '(!a).b'],
    ["x [ 0 .. 10 ] . all ( v , v [ 0 ] != 'a' )", "x[0..10].all(v, v[0] != 'a')"],
    ['[1,2,[]]', '[1, 2, []]'],
    ["{id:'a'}.id", "{ id: 'a' }.id"],
  ])('properties: %s prints as %s', (text, expected) => {
    expect(print(parse(text).tree!)).toBe(expected)
  })
})

describe('properties: types', () => {
  test('properties: what checks, over values of their declared types, has no type error', () => {
    const kinds = new Map<string, number>()
    fc.assert(
      fc.property(tapes(200), tapes(400), (forText, forContext) => {
        const condition = typedCondition(forText)
        const errors = checkText('condition', condition).filter(({ severity }) => severity === 'error')
        const policy = compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_ALLOW', condition })
        const [outcome] = authorize([policy], typedContext(forContext)).policies
        const kind = outcome!.error?.kind ?? 'value'
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
        if (errors.length > 0) expect(kind, condition).toBe('InvalidExpression')
        else
          expect(['value', 'MissingField', 'IndexOutOfRange'], `${condition}: ${outcome!.error?.message}`).toContain(
            kind,
          )
      }),
      { numRuns: runs(500) },
    )
    // The generator must reach all of these, or the property says little.
    for (const kind of ['value', 'MissingField', 'InvalidExpression'])
      expect(kinds.get(kind), JSON.stringify([...kinds])).toBeGreaterThan(10)
  })
})

const clauses = {
  condition: [undefined, 'true', 'false', "activity.kind == 'CREATE_API_KEYS'", "wallet.id == 'a'", '42'],
  consensus: [
    undefined,
    'false',
    "approvers.any(u, u.id == 'ana')",
    "approvers.any(u, u.id == 'bob')",
    'approvers.count() >= 2',
    "approvers.any(u, u.id == 'ana') && approvers.any(u, u.id == 'bob')",
  ],
  time: [undefined, '', 'false', "time.now > Timestamp('1990-01-01T00:00:00Z')"],
}

const policies = fc
  .array(
    fc.record({
      effect: fc.constantFrom('EFFECT_ALLOW', 'EFFECT_DENY'),
      condition: fc.constantFrom(...clauses.condition),
      consensus: fc.constantFrom(...clauses.consensus),
      time: fc.constantFrom(...clauses.time),
    }),
    { maxLength: 5 },
  )
  .map((texts) => texts.map((text, index) => ({ id: `p${index}`, name: `p${index}`, ...text }) as PolicyText))

const contexts: fc.Arbitrary<PolicyContext> = fc.record({
  now: fc.constant(0n),
  activity: fc.constantFrom({ type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2' }, { type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' }),
  approvers: fc.constantFrom([{ id: 'ana' }], [{ id: 'bob' }], [{ id: 'ana' }, { id: 'bob' }]),
  targetUserId: fc.constantFrom('ana', 'cyd'),
  wallet: fc.constantFrom({ id: 'a' }, {}),
  rootQuorum: fc.constantFrom(
    { userIds: ['bob', 'cyd'], threshold: 2 },
    { userIds: ['ana'], threshold: 1 },
    { userIds: ['dan'], threshold: 1 },
  ),
})

describe('properties: decisions', () => {
  const decide = (texts: readonly PolicyText[], context: PolicyContext) => authorize(texts.map(compilePolicy), context)

  test('properties: the order of policies does not matter', () => {
    fc.assert(
      fc.property(policies, contexts, fc.nat(), (texts, context, turn) => {
        const moved = texts.map((_, index) => texts[(index + turn) % texts.length]!).reverse()
        const [a, b] = [decide(texts, context), decide(moved, context)]
        expect({ ...b, policies: [] }).toEqual({ ...a, policies: [] })
        expect(new Map(b.policies.map((each) => [each.policyId, each]))).toEqual(
          new Map(
            moved.flatMap(({ id }) => a.policies.filter((each) => each.policyId === id).map((each) => [id, each])),
          ),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  test('properties: one more DENY never allows more', () => {
    const openness = ['OUTCOME_DENY_EXPLICIT', 'OUTCOME_DENY_IMPLICIT', 'OUTCOME_REQUIRES_CONSENSUS', 'OUTCOME_ALLOW']
    let closed = 0
    fc.assert(
      fc.property(policies, policies, contexts, (texts, more, context) => {
        const denials = more.map((text) => ({ ...text, effect: 'EFFECT_DENY' as const }))
        const before = openness.indexOf(decide(texts, context).outcome)
        const after = openness.indexOf(decide([...texts, ...denials], context).outcome)
        expect(after).toBeLessThanOrEqual(before)
        if (after < before) closed++
      }),
      { numRuns: runs(300) },
    )
    expect(closed).toBeGreaterThan(10)
  })
})
