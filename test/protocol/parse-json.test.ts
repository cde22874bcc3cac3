import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiError, parseJson } from '../../src/protocol/index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function refusalOf(raw: Uint8Array): string {
  try {
    parseJson(raw)
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    const { httpStatus, turnkeyErrorCode, message } = error as ApiError
    expect([httpStatus, turnkeyErrorCode]).toEqual([400, 'REQUEST_INVALID'])
    return message
  }
  throw new Error('expected a refusal')
}

const twice = 'bad request body: member `a` appears twice'
const noJson = 'bad request body: expected JSON'
const notKept = 'bad request body: text has a character that cannot be kept (U+0000 or half a pair)'

test.each([
  { name: 'a member twice', given: '{"a":1,"a":2}', expected: twice },
  { name: 'a member twice, once escaped', given: '{"a":1,"\\u0061":2}', expected: twice },
  { name: 'a member twice, deep in lists', given: '[[{"b":{"a":1,"c":[],"a":1}}]]', expected: twice },
  { name: 'a member twice, after a nested object', given: '{"a":{"a":1},"b":[{"a":2}],"a":3}', expected: twice },
  { name: '__proto__', given: '{"__proto__":{}}', expected: 'bad request body: member `__proto__` is not allowed' },
  {
    name: '__proto__, escaped and deep',
    given: '[{"a":{"__pro\\u0074o__":1}}]',
    expected: 'bad request body: member `__proto__` is not allowed',
  },
  { name: 'nothing', given: '', expected: 'bad request body: expected JSON, got nothing' },
  { name: 'blanks', given: ' \n', expected: 'bad request body: expected JSON, got nothing' },
  { name: 'half an object', given: '{"a":1', expected: noJson },
  { name: 'two values', given: '{}{}', expected: noJson },
  { name: 'a trailing comma', given: '{"a":1,}', expected: noJson },
  { name: 'a comment', given: '{} // no', expected: noJson },
  { name: 'a byte order mark', given: '\ufeff{}', expected: noJson },
  { name: 'NaN', given: '{"a":NaN}', expected: noJson },
  { name: 'U+0000', given: '{"a":"x\\u0000"}', expected: notKept },
  { name: 'half a pair', given: '{"a":"\\ud800"}', expected: notKept },
  { name: 'half a pair in a name', given: '{"\\udc00":1}', expected: notKept },
])('parse: refuses $name', ({ given, expected }) => {
  expect(refusalOf(bytes(given))).toBe(expected)
})

test('parse: a member that appears twice is found wherever both stand, and however many members there are', () => {
  const names = fc.uniqueArray(fc.string({ unit: 'grapheme-ascii', maxLength: 12 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(names, fc.nat(), fc.nat(), (all, first, second) => {
      const written = all.filter((name) => name !== '__proto__').map((name) => `${JSON.stringify(name)}:1`)
      fc.pre(written.length > 0)
      expect(() => parseJson(bytes(`{${written}}`))).not.toThrow()
      const again = written[first % written.length]!
      const between = written.toSpliced((first % written.length) + 1 + (second % written.length), 0, again)
      expect(refusalOf(bytes(`{${between}}`))).toContain('appears twice')
    }),
  )
})

test('parse: refuses bytes that are not UTF-8', () => {
  for (const raw of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0xfe, 0xff],
  ])
    expect(refusalOf(new Uint8Array(raw))).toBe('bad request body: expected UTF-8')
})

test('parse: 64 levels are read, 65 are refused, and a megabyte of them does not overflow', () => {
  const nested = (depth: number) => bytes('['.repeat(depth) + ']'.repeat(depth))
  expect(() => parseJson(nested(64))).not.toThrow()
  expect(refusalOf(nested(65))).toBe('bad request body: nesting is deeper than 64')
  expect(refusalOf(nested(500_000))).toBe('bad request body: nesting is deeper than 64')
})

test('parse: names that are equal in different objects, and values that look like names, are no duplicates', () => {
  expect(parseJson(bytes('{"a":{"a":"a"},"b":["a","a",{"a":1},{"a":1}],"c":"a\\":1,\\"a"}'))).toEqual({
    a: { a: 'a' },
    b: ['a', 'a', { a: 1 }, { a: 1 }],
    c: 'a":1,"a',
  })
})

test('parse: the names of inherited members are ordinary', () => {
  expect(parseJson(bytes('{"constructor":1,"toString":2}'))).toEqual({ constructor: 1, toString: 2 })
})

test('parse: reads whatever JSON.stringify writes of well-formed values, spaced in any way', () => {
  const keepable = fc
    .string({ unit: 'binary' })
    .filter((s) => s.isWellFormed() && !s.includes('\0') && s !== '__proto__')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      keepable,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(keepable, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, 4), (json, indent) => {
      expect(parseJson(bytes(JSON.stringify(json, null, indent)))).toEqual(json)
    }),
  )
})

test('parse: whatever the bytes, it returns what JSON.parse does or refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0a1 '), maxLength: 24 }), (text) => {
      let value: unknown
      try {
        value = parseJson(bytes(text))
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError)
        return
      }
      expect(value).toEqual(JSON.parse(text))
    }),
    { numRuns: 2000 },
  )
})
