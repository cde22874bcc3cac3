/** Traces say what was decided and nothing else, whatever they are read as. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStyle } from '../../src/cli/io.ts'
import { linesOf, renderExplanation, renderExplanationMarkdown } from '../../src/cli/views/explanation.ts'
import {
  authorize,
  type Clause,
  compileCounted,
  compilePolicy,
  type Explanation,
  explain,
  type PolicyContext,
  type PolicyText,
  whoElse,
  whoVotes,
} from '../../src/policy/index.ts'
import { runs } from '../runs.ts'
import { readPolicyCases } from './cases.ts'
import { tapes, typedCondition, typedContext } from './generate.ts'

const base: PolicyContext = {
  now: 0n,
  activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
  approvers: [{ id: 'u-ana', tags: ['t-ops'] }],
  wallet: { id: 'w-1', label: 'main' },
  eth: { tx: { value: 7n, to: '0xAB' } },
}

function allow(condition?: string, consensus?: string): PolicyText {
  return { id: 'p', name: 'p', effect: 'EFFECT_ALLOW', condition, consensus }
}

function explained(text: PolicyText, context: PolicyContext = base): Explanation {
  return explain([compilePolicy(text)], context)
}

function clauseOf(condition: string, context?: PolicyContext): Clause {
  return explained(allow(condition), context).policies[0]!.fields[0]!.clause!
}

/** The clauses that made the difference, by their text. */
function decisive(clause: Clause): readonly string[] {
  const inner = clause.clauses.filter((each) => each.decisive)
  return inner.length === 0 ? [clause.text] : inner.flatMap(decisive)
}

describe('explain: clauses', () => {
  test('explain: a comparison says the values of its operands, and literals say themselves', () => {
    expect(clauseOf('eth.tx.value < 5')).toEqual({
      text: 'eth.tx.value < 5',
      start: 0,
      end: 16,
      value: { type: 'bool', text: 'false' },
      operands: [{ text: 'eth.tx.value', value: { type: 'int', text: '7' } }],
      clauses: [],
      decisive: true,
    })
  })

  const table: readonly { condition: string; made: readonly string[] }[] = [
    { condition: "eth.tx.value < 5 && wallet.id == 'w-1'", made: ['eth.tx.value < 5'] },
    { condition: "eth.tx.value < 5 && wallet.id == 'w-2'", made: ['eth.tx.value < 5', "wallet.id == 'w-2'"] },
    { condition: "eth.tx.value < 9 && wallet.id == 'w-1'", made: ['eth.tx.value < 9', "wallet.id == 'w-1'"] },
    { condition: "eth.tx.value < 5 || wallet.id == 'w-1'", made: ["wallet.id == 'w-1'"] },
    { condition: "eth.tx.value < 5 || wallet.id == 'w-2'", made: ['eth.tx.value < 5', "wallet.id == 'w-2'"] },
    { condition: "!(eth.tx.value < 5 || wallet.id == 'w-1')", made: ["wallet.id == 'w-1'"] },
    { condition: "eth.tx.value < 9 && eth.tx.gas < 5 && private_key.id == 'a'", made: ['eth.tx.gas < 5'] },
    { condition: '[1, 2, 3].all(n, n < 3)', made: ['n < 3'] },
    { condition: '[1, 2, 3].any(n, n > 1)', made: ['n > 1', 'n > 1'] },
    { condition: '[1, 2, 3].any(n, n > 3)', made: ['n > 3', 'n > 3', 'n > 3'] },
    { condition: '[].all(n, n == 1)', made: ['[].all(n, n == 1)'] },
    { condition: '[1, 2].filter(n, n > 1).count() == 2', made: ['[1, 2].filter(n, n > 1).count() == 2'] },
  ]
  test.each(table)('explain: what makes the difference in $condition', ({ condition, made }) => {
    expect(decisive(clauseOf(condition))).toEqual(made)
  })

  test('explain: a predicate is told for each element, with the element', () => {
    const { clauses } = clauseOf('[1, 5].any(n, n > 3)')
    expect(clauses.map(({ element, value }) => [element, value?.text])).toEqual([
      [{ name: 'n', index: 0, value: { type: 'int', text: '1' } }, 'false'],
      [{ name: 'n', index: 1, value: { type: 'int', text: '5' } }, 'true'],
    ])
  })

  test('explain: an error says its kind where it arose', () => {
    const trace = explained(allow("eth.tx.gas < 5 && wallet.id == 'w-1'"))
    expect(trace.policies[0]!.outcome).toBe('OUTCOME_ERROR')
    expect(trace.policies[0]!.fields[0]!.clause!.clauses[0]!.error).toEqual({
      kind: 'MissingField',
      message: '`eth.tx.gas` is missing',
    })
  })

  test('explain: a long value is cut, an id is followed by its name', () => {
    const context = { ...base, wallet: { id: 'w-1', label: 'x'.repeat(5000) } }
    const trace = explain([compilePolicy(allow('wallet.id == wallet.label'))], context, {
      nameOf: (id) => (id === 'w-1' ? 'wallet.main' : undefined),
    })
    const [id, label] = trace.policies[0]!.fields[0]!.clause!.operands
    expect(id!.value!.text).toBe("'w-1' (wallet.main)")
    expect(label!.value!.text).toBe(`'${'x'.repeat(140)}…'`)
  })

  test('explain: nested predicates over long lists are recorded up to a bound', () => {
    const values = Array.from({ length: 300 }, (_, n) => String(n))
    const context = { ...base, approvers: [{ id: 'u-ana', tags: values }] }
    const text = 'approvers.any(u, u.tags.all(a, u.tags.any(b, a == b)))'
    const trace = explained(allow(undefined, text), context)
    expect(trace.outcome).toBe('OUTCOME_ALLOW')
    expect(JSON.stringify(trace).length).toBeLessThan(20_000_000)
  })

  test('explain: of a policy that is not active at this time, nothing else was evaluated', () => {
    const policy = { ...allow('true', 'true'), time: "time.now > Timestamp('2030-01-01T00:00:00Z')" }
    const [trace] = explained(policy).policies
    expect(trace!.outcome).toBe('OUTCOME_TIME_INACTIVE')
    expect(trace!.fields.map(({ field, clause }) => [field, clause?.value?.text])).toEqual([
      ['time', 'false'],
      ['condition', undefined],
      ['consensus', undefined],
    ])
  })

  test('explain: of several calls each is explained, and the worst is the outcome', () => {
    const context = { ...base, batch: [{ eth: { tx: { value: 1n } } }, { eth: { tx: { value: 9n } } }] }
    const trace = explained(allow('eth.tx.value < 5'), context)
    expect(trace.outcome).toBe('OUTCOME_DENY_IMPLICIT')
    expect(trace.items!.map(({ outcome }) => outcome)).toEqual(['OUTCOME_ALLOW', 'OUTCOME_DENY_IMPLICIT'])
  })
})

describe('explain: properties', () => {
  const same = (texts: readonly PolicyText[], context: PolicyContext) => {
    const policies = texts.map(compilePolicy)
    const decision = authorize(policies, context)
    const trace = explain(policies, context)
    expect({ outcome: trace.outcome, basis: trace.basis }).toEqual({ outcome: decision.outcome, basis: decision.basis })
    expect(
      trace.policies.map(({ policyId, outcome, error }) => ({ policyId, outcome, ...(error ? { error } : {}) })),
    ).toEqual(decision.policies)
    for (const { fields, error } of trace.policies)
      for (const { clause } of fields)
        if (clause !== undefined && error === undefined) expect(clause.value?.type).toBe('bool')
    return trace
  }

  test('explain: watching changes nothing, in every published case', () => {
    for (const { policies, context } of readPolicyCases()) same(policies, context)
  })

  test('explain: watching changes nothing, in generated conditions and contexts', () => {
    fc.assert(
      fc.property(tapes(200), tapes(400), (text, context) => {
        same([allow(typedCondition(text))], typedContext(context))
      }),
      { numRuns: runs(200) },
    )
  })

  test('explain: the tree, the Markdown and the JSON say the same', () => {
    const plain = createStyle(false)
    let clauses = 0
    fc.assert(
      fc.property(tapes(200), tapes(400), (text, context) => {
        const trace = JSON.parse(
          JSON.stringify(explain([compilePolicy(allow(typedCondition(text)))], typedContext(context))),
        ) as Explanation
        const inJson = trace.policies.flatMap(({ fields }) =>
          fields.flatMap(({ clause }) => (clause ? preorder(clause) : [])),
        )
        const oneLine = (written: string) => written.replace(/\s+/g, ' ')
        const said = inJson.map(({ text: clause, value, error, element }) => [
          oneLine(`${element ? `${element.name} = ${element.value.text}: ` : ''}${oneLine(clause)}`),
          error === undefined ? value!.text : `error, ${error.message}`,
        ])
        clauses += said.length
        const lines = linesOf(trace)
        expect(lines.filter(({ kind }) => kind === 'clause').map((line) => [oneLine(line.text), line.value])).toEqual(
          said,
        )
        const bare = (written: string) => written.replace(/[\s`*\\]/g, '')
        const tree = renderExplanation(trace, plain).split('\n').slice(2).map(bare)
        const markdown = renderExplanationMarkdown(trace).split('\n').slice(2).map(bare)
        lines.forEach(({ text: clause, value = '' }, index) => {
          for (const line of [tree[index], markdown[index]]) {
            expect(line).toContain(bare(clause))
            expect(line).toContain(bare(value))
          }
        })
      }),
      { numRuns: runs(80) },
    )
    expect(clauses).toBeGreaterThan(80)
  })
})

function preorder(clause: Clause): readonly Clause[] {
  return [clause, ...clause.clauses.flatMap(preorder)]
}

describe('explain: who else', () => {
  const people = ['ana', 'bob', 'cyd', 'dan'].map((name, index) => ({
    name,
    approver: { id: `u-${name}`, tags: index < 3 ? ['t-ops'] : [] },
  }))
  const pair = "approvers.filter(u, u.tags.contains('t-ops')).count() >= 2"

  test('explain: the smallest sets of people that suffice', () => {
    expect(explain([compilePolicy(allow(undefined, pair))], base, { people }).needs).toEqual({
      sets: [['bob'], ['cyd']],
      any: { count: 1, of: ['bob', 'cyd'] },
    })
  })

  test('explain: nobody, when all people together are too few', () => {
    const most = pair.replace('2', '5')
    expect(whoElse([compilePolicy(allow(undefined, most))], base, people)).toBe('nobody')
  })

  test('explain: with no approval left it is asked anew, and of nobody whose vote is not taken', () => {
    const waiting = { ...base, approvers: [], credentials: [] }
    const policies = [compilePolicy(allow(undefined, pair))]
    expect(whoElse(policies, waiting, people)).toBeUndefined()
    const ops = ['ana', 'bob', 'cyd']
    expect(whoVotes(policies, waiting, people)).toMatchObject({ any: { count: 2, of: ops } })
    // Whoever asks needs no leave; dan could have asked for it, and may not vote.
    const anybody = [
      compilePolicy(allow(undefined, "approvers.any(u, u.tags.contains('t-ops')) && approvers.count() == 1")),
    ]
    expect(whoVotes(anybody, waiting, people)).toMatchObject({ any: { count: 1, of: ops } })
  })

  test('explain: not asked when the request does not wait', () => {
    expect(whoElse([compilePolicy(allow('true'))], base, people)).toBeUndefined()
    expect(explained(allow(undefined, pair)).needs).toBeUndefined()
  })
})

describe('explain: extents', () => {
  test.each([
    ['eth.tx.value < 5 && (true || false)', 'eth.tx.value < 5 && (true || false)'],
    ['(false || eth.tx.value < 9) && !(((false)))', '(false || eth.tx.value < 9) && !(((false)))'],
    ["((eth.tx.value < 9)) && wallet.id != ')('", "((eth.tx.value < 9)) && wallet.id != ')('"],
    ['( eth.tx.value < 9 )', 'eth.tx.value < 9'],
  ])('explain: the text of %s keeps its brackets in pairs', (condition, text) => {
    expect(clauseOf(condition).text).toBe(text)
  })
})

describe('coverage: counts', () => {
  test('coverage: every clause that is a bool is counted, literals are not', () => {
    const { compiled, counts } = compileCounted(allow("eth.tx.value < 5 && (true || wallet.id == 'w-1')"))
    authorize([compiled], base)
    authorize([compiled], { ...base, eth: { tx: { value: 1n } } })
    authorize([compiled], { ...base, eth: undefined } as unknown as PolicyContext)
    const times = counts().fields[0]!.clauses.map((one) => [one.text, one.timesTrue, one.timesFalse, one.timesError])
    expect(times).toEqual([
      ["eth.tx.value < 5 && (true || wallet.id == 'w-1')", 1, 1, 1],
      ['eth.tx.value < 5', 1, 1, 1],
      ["true || wallet.id == 'w-1'", 3, 0, 0],
      ["wallet.id == 'w-1'", 3, 0, 0],
    ])
  })
})
