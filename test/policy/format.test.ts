import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatExpression, parse, print } from '../../src/policy/index.ts'
import { fill, layout } from '../../src/policy/layout.ts'
import { runs } from '../runs.ts'
import { readPolicyCases } from './cases.ts'
import { anyTree, shapeOf, tapes } from './generate.ts'

function format(text: string, width = 40): string {
  const result = formatExpression('condition', text, { width })
  return 'text' in result ? result.text : result.problems.map(({ message }) => message).join()
}

describe('format', () => {
  test.each([
    { name: 'blanks', given: "wallet . id=='a'", expected: "wallet.id == 'a'" },
    { name: 'needless parentheses', given: "((wallet.id)) == ('a')", expected: "wallet.id == 'a'" },
    {
      name: 'clauses that do not fit on one line',
      given: "activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'a' && eth.tx.value < 5",
      expected: "activity.kind == 'SIGN_TRANSACTION'\n&& wallet.id == 'a'\n&& eth.tx.value < 5",
    },
    {
      name: 'an `||` inside of an `&&`, broken only where it must be',
      given: "(wallet.id == 'a' || wallet.id == 'b') && (wallet.label == 'abcdefghij' || wallet.label == 'klmnopqrst')",
      expected: [
        "(wallet.id == 'a' || wallet.id == 'b')",
        '&& (',
        "  wallet.label == 'abcdefghij'",
        "  || wallet.label == 'klmnopqrst'",
        ')',
      ].join('\n'),
    },
    {
      name: 'a predicate with more behind it',
      given: "solana.tx.transfers.filter(t, t.to == 'abcdefghijkl' && t.amount < 5).count() >= 2",
      expected: [
        'solana.tx.transfers.filter(',
        '  t,',
        "  t.to == 'abcdefghijkl' && t.amount < 5",
        ').count() >= 2',
      ].join('\n'),
    },
    {
      name: 'a long list',
      given: "eth.tx.to in ['0x0000000000', '0x1111111111', '0x2222222222']",
      expected: "eth.tx.to in [\n  '0x0000000000',\n  '0x1111111111',\n  '0x2222222222'\n]",
    },
    { name: 'a count without parentheses', given: 'wallets.count>1', expected: 'wallets.count() > 1' },
    { name: 'a text as it is', given: "wallet.label ==  ' a  && b '", expected: "wallet.label == ' a  && b '" },
  ])('format: $name', ({ given, expected }) => {
    expect(format(given)).toBe(expected)
    expect(format(expected)).toBe(expected)
  })

  test('format: what does not parse gives its problems', () => {
    expect(formatExpression('condition', 'wallet.id ==')).toMatchObject({
      problems: [{ code: 'policy/unexpected-end' }],
    })
  })

  test('format: on a wide line it is what `print` gives, and a clause a line where that is asked for', () => {
    const text = "wallet.id == 'a' && wallet.exported"
    expect(format(text, 1000)).toBe(print(parse(text).tree!))
    expect(formatExpression('condition', text, { clauseALine: true })).toEqual({
      text: "wallet.id == 'a'\n&& wallet.exported",
    })
  })

  test('format: any tree at any width keeps its meaning, and formatting it again changes nothing', () => {
    fc.assert(
      fc.property(tapes(60), fc.integer({ min: 1, max: 120 }), fc.boolean(), (choices, width, breakOutermost) => {
        const tree = anyTree(choices, 4)
        const text = fill(layout(tree), width, { breakOutermost })
        const parsed = parse(text)
        expect(parsed.problems, text).toEqual([])
        expect(shapeOf(parsed.tree)).toEqual(shapeOf(tree))
        expect(fill(layout(parsed.tree!), width, { breakOutermost })).toBe(text)
      }),
      { numRuns: runs(250) },
    )
  })

  test('format: every published case keeps what it says, over lines that fit', () => {
    for (const { policies } of readPolicyCases())
      for (const text of policies.flatMap(({ condition }) => condition ?? [])) {
        const result = formatExpression('condition', text, { width: 80 })
        if ('problems' in result) continue
        expect(formatExpression('condition', result.text, { width: 80 })).toEqual(result)
      }
  })
})
