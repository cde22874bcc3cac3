import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, EncodingError } from '../../src/encoding/index.ts'

test('canonical JSON: the example of RFC 8785 on sorting', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  expect(Object.values(JSON.parse(canonicalJson(value)) as object).sort()).toEqual(Object.values(value).sort())
  expect(canonicalJson(value)).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
      '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  )
})

test('canonical JSON: numbers and strings are written as RFC 8785 writes them', () => {
  expect(canonicalJson(JSON.parse('[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0]'))).toBe(
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  )
  expect(canonicalJson('\u20ac$\u000f\nA\'B"\\\\"/')).toBe('"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"')
})

test('canonical JSON: it reads back as the same value, and so writes the same text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
})

test('canonical JSON: the order in which members were added does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse())
      expect(canonicalJson(reversed)).toBe(canonicalJson(value))
    }),
  )
})

test('canonical JSON: absent members are left out, names like those of every object are not', () => {
  expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}')
  expect(canonicalJson(JSON.parse('{"__proto__":1,"constructor":2}'))).toBe('{"__proto__":1,"constructor":2}')
})

test('canonical JSON: names that are numbers stand in the order of their text, as others do', () => {
  expect(canonicalJson({ b: [{ 9: 1, 10: { z: 1, a: 2 }, '': 3 }], 1: 0, a: [] })).toBe(
    '{"1":0,"a":[],"b":[{"":3,"10":{"a":2,"z":1},"9":1}]}',
  )
  const named = fc.dictionary(fc.oneof(fc.nat().map(String), fc.constant('__proto__'), fc.string()), fc.jsonValue())
  fc.assert(
    fc.property(named, fc.boolean(), (value, isInList) => {
      const [text, names] = [canonicalJson(isInList ? [value] : value), Object.keys(value).sort()]
      const members = names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')
      expect(text).toBe(isInList ? `[{${members}}]` : `{${members}}`)
    }),
  )
})

test('canonical JSON: what has no text is refused beside names that are numbers, too', () => {
  for (const value of [{ 1: 1, 2: undefined, 3: Number.NaN }, [{ 1: 1 }, undefined], { 1: [{ 2: 3 }, new Date(0)] }])
    expect(() => canonicalJson(value)).toThrow(EncodingError)
  const list: unknown[] = [{ 1: 1 }]
  list.length = 2
  expect(() => canonicalJson(list)).toThrow(EncodingError)
})

test('canonical JSON: objects without a prototype and of another realm are plain', () => {
  expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}')
  expect(canonicalJson(runInNewContext('({ a: [1, { b: 2 }] })'))).toBe('{"a":[1,{"b":2}]}')
})

class Point {
  readonly x = 1
}
for (const { name, value } of [
  { name: 'NaN', value: Number.NaN },
  { name: 'infinity', value: [Number.POSITIVE_INFINITY] },
  { name: 'a bigint', value: { a: 1n } },
  { name: 'a function', value: () => 1 },
  { name: 'nothing', value: undefined },
  { name: 'nothing in a list', value: [undefined] },
  { name: 'a hole in a list', value: new Array(2) },
  { name: 'a date', value: { at: new Date(0) } },
  { name: 'a map', value: new Map([['a', 1]]) },
  { name: 'bytes', value: Uint8Array.of(1) },
  { name: 'an instance of a class', value: new Point() },
]) {
  test(`canonical JSON: ${name} is refused, for it has no text of its own`, () => {
    expect(() => canonicalJson(value)).toThrow(EncodingError)
  })
}
