import { expect, test } from 'vitest'
import { checkText, parse } from '../../src/policy/index.ts'

test.each(['(a || b) && (c || d)', '!(a)', '(a) == (b)', '(a).b', '(a)[0]', '(a).any(v, (v))', '((a) == b) || c'])(
  'extents: %s stands from its first bracket to its last',
  (text) => {
    expect(parse(` ${text} `).tree).toMatchObject({ start: 1, end: text.length + 1 })
  },
)

test('extents: a fault about an operand in parentheses marks its brackets too', () => {
  const all = checkText('condition', `'a' == ((true) && (false))`)
  expect(all.map(({ start, end }) => `'a' == ((true) && (false))`.slice(start, end))).toContain(
    "'a' == ((true) && (false))",
  )
})
