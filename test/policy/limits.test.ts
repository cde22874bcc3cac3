import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkText, type PolicyField, parse, print } from '../../src/policy/index.ts'
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
  test('fuzz: 20,000 texts neither crash nor hang', () => {
    let seen = 0
    const judge = (text: string, field: PolicyField) => {
      seen++
      judgeText(field, text)
    }
    fc.assert(fc.property(sentence, policyField, judge), { seed: SEED, numRuns: 16_000 })
    fc.assert(fc.property(anyText, policyField, judge), { seed: SEED, numRuns: 4_000 })
    expect(seen).toBe(20_000)
  })
})
