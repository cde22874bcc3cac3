import { describe, expect, test } from 'vitest'
import { lex } from '../../src/policy/lexer.ts'
import type { Token } from '../../src/policy/tokens.ts'

function show(text: string): string {
  return lex(text)
    .tokens.map((token) => shown(token))
    .join(' ')
}

function shown(token: Token): string {
  switch (token.kind) {
    case 'int':
      return `int:${token.value}`
    case 'string':
      return `string:${token.value}`
    case 'identifier':
      return `name:${token.name}`
    case 'symbol':
      return token.symbol
    case 'end':
      return 'end'
    default:
      return token satisfies never
  }
}

/** Whether tokens are in order, tokens and problems leave out white space alone, and a token alone is the same token. */
function accountsForAll(text: string): boolean {
  const { tokens, problems } = lex(text)
  const covered = Array.from(text, () => false)
  let last = 0
  for (const { start, end, kind } of tokens) {
    if (start < last || (kind === 'end') !== (start === end)) return false
    last = end
    covered.fill(true, start, end)
  }
  for (const { start, end } of problems) covered.fill(true, start, end)
  if (covered.some((isCovered, at) => !isCovered && text[at] !== ' ')) return false
  if (problems.length > 0) return true
  return tokens.slice(0, -1).every((token) => {
    const [again] = lex(text.slice(token.start, token.end)).tokens
    return shown(again!) === shown(token)
  })
}

describe('lexer', () => {
  test.each([
    ['0..10', 'int:0 .. int:10 end'],
    ['-5', 'int:-5 end'],
    ['a-5', 'name:a int:-5 end'],
    ['1<=-2', 'int:1 <= int:-2 end'],
    ['007', 'int:7 end'],
    ["'a\\'", 'string:a\\ end'],
    ["'a b\n\"c'", 'string:a b\n"c end'],
    ["''", 'string: end'],
    ['in int _in1', 'in name:int name:_in1 end'],
    ['true&&false||!x', 'true && false || ! name:x end'],
    ['a.count()', 'name:a . name:count ( ) end'],
    ['a...b', 'name:a name:b end'],
    ['\t\r\n a', 'name:a end'],
    ['===', 'end'],
  ])('lexer: %j is cut into %j', (text, expected) => {
    expect(show(text)).toBe(expected)
  })

  test.each(['a\u00a0b', 'é', '1 /* a */', 'a;b', '\u0000', '\ud800'])(
    'lexer: %j holds a character without meaning',
    (text) => {
      expect(lex(text).problems.map(({ code }) => code)).toContain('policy/unexpected-character')
    },
  )

  test('lexer: over every short text, tokens and problems account for every character but white space', () => {
    const alphabet = ['a', '0', "'", '"', '.', '=', '-', ' ', '&', '(', '!', '_', 'é']
    const wrong: string[] = []
    let seen = 0
    const visit = (text: string) => {
      seen++
      if (!accountsForAll(text)) wrong.push(text)
      if (text.length < 4) for (const letter of alphabet) visit(text + letter)
    }
    visit('')
    expect(wrong).toEqual([])
    expect(seen).toBe(1 + 13 + 13 ** 2 + 13 ** 3 + 13 ** 4)
  })
})
