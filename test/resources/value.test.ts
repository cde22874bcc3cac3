import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatAddress,
  KINDS,
  nameValue,
  parentOf,
  parseAddress,
  referencesOf,
  resolveValue,
  sameValue,
  type Value,
} from '../../src/resources/index.ts'

describe('address', () => {
  const table = [
    { parts: ['tag', 'treasury'], text: 'tag.treasury' },
    { parts: ['tag', 'Ops team'], text: 'tag["Ops team"]' },
    { parts: ['apiKey', 'alice', 'laptop'], text: 'apiKey.alice.laptop' },
    {
      parts: ['walletAccount', 'hot', "m/44'/60'/0'/0/0 ethereum"],
      text: `walletAccount.hot["m/44'/60'/0'/0/0 ethereum"]`,
    },
    { parts: ['rootQuorum'], text: 'rootQuorum' },
    { parts: ['user', '__proto__'], text: 'user.__proto__' },
    { parts: ['user', 'a"b'], text: 'user["a\\"b"]' },
    { parts: ['user', ''], text: 'user[""]' },
  ] as const
  for (const { parts, text } of table) {
    test(`address: ${text} is written and read`, () => {
      const [kind, ...names] = parts
      expect(formatAddress(kind, ...names)).toBe(text)
      expect(parseAddress(text)).toEqual({ kind, names })
    })
  }

  for (const text of [
    '',
    'tag',
    'tag.',
    'tag.a.b',
    'tags.a',
    'rootQuorum.a',
    'tag[a]',
    "tag['a']",
    'tag["a]',
    'tag .a',
    'apiKey.a',
    'tag.a b',
  ]) {
    test(`address: ${JSON.stringify(text)} is none`, () => expect(parseAddress(text)).toBeUndefined())
  }

  test('address: every kind has one that can be read again', () => {
    for (const kind of KINDS) {
      const names = [0, 1, 2].map((count) => ['a', 'b'].slice(0, count))
      expect(
        names.filter((some) => parseAddress(formatAddress(kind, ...some)) !== undefined),
        kind,
      ).toHaveLength(1)
    }
  })

  test('address: whatever the names, reading gives them back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(parseAddress(formatAddress('apiKey', a, b))).toEqual({ kind: 'apiKey', names: [a, b] })
      }),
    )
  })

  test('address: controls in a name are written as escapes, and read back', () => {
    const address = formatAddress('user', 'a\u007f\u0085\u0001')
    expect(address).toBe('user["a\\u007f\\u0085\\u0001"]')
    expect(parseAddress(address)?.names).toEqual(['a\u007f\u0085\u0001'])
  })

  test('address: the parent of a key is its user and of an account its wallet', () => {
    expect(parentOf('apiKey["a b"].laptop')).toBe('user["a b"]')
    expect(parentOf('walletAccount.hot["m/0 solana"]')).toBe('wallet.hot')
    expect(parentOf('apiKeyIpAllowlist["a b"].laptop')).toBe('apiKey["a b"].laptop')
    expect(parentOf('user.alice')).toBeUndefined()
  })
})

const ID = '0b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f'
const condition: Value = {
  $text: ["wallet.id == '", { $ref: 'wallet.hot' }, "' && user == '", { $ref: 'user.bob' }, "'"],
}

describe('value', () => {
  test('value: references are found anywhere, once each and sorted', () => {
    const value: Value = { a: [condition, { $ref: 'tag.x' }], b: { c: { $ref: 'wallet.hot' } } }
    expect(referencesOf(value)).toEqual(['tag.x', 'user.bob', 'wallet.hot'])
  })

  test('value: known ids are filled in and unknown references stay', () => {
    const half = resolveValue(condition, { 'wallet.hot': ID })
    expect(half).toEqual({ $text: [`wallet.id == '${ID}' && user == '`, { $ref: 'user.bob' }, "'"] })
    expect(resolveValue(half, new Map([['user.bob', 'B']]))).toBe(`wallet.id == '${ID}' && user == 'B'`)
    expect(resolveValue([{ $ref: 'tag.x' }], {})).toEqual([{ $ref: 'tag.x' }])
  })

  test('value: a name that objects inherit is not an id', () => {
    expect(resolveValue({ $ref: 'constructor' }, {})).toEqual({ $ref: 'constructor' })
    const member = JSON.parse('{"__proto__": {"$ref": "tag.x"}}') as Value
    expect(Object.entries(resolveValue(member, { 'tag.x': 'T' }) as object)).toEqual([['__proto__', 'T']])
  })

  test('value: live ids are shown by name, also inside a text, and what looks like a reference is escaped', () => {
    const names = new Map([[ID, 'wallet.hot']])
    expect(nameValue(`wallet.id == '${ID}' && x == '\${tag.y}'`, names)).toBe(
      "wallet.id == '${wallet.hot}' && x == '$${tag.y}'",
    )
    expect(nameValue([ID, 'other', 3, null], names)).toEqual(['${wallet.hot}', 'other', 3, null])
    expect(nameValue(condition, names)).toBe("wallet.id == '${wallet.hot}' && user == '${user.bob}'")
  })

  test('value: what an id stands for before and after is told apart by nothing but the id', () => {
    expect(nameValue(resolveValue(condition, { 'wallet.hot': ID }), { [ID]: 'wallet.hot' })).toBe(
      nameValue(condition, {}),
    )
  })

  const same: {
    a: Value | undefined
    b: Value | undefined
    compare: Parameters<typeof sameValue>[2]
    expected: boolean
  }[] = [
    { a: ['x', 'y'], b: ['y', 'x'], compare: 'exact', expected: false },
    { a: ['x', 'y'], b: ['y', 'x', 'x'], compare: 'set', expected: true },
    { a: [{ $ref: 'tag.x' }], b: [{ $ref: 'tag.y' }], compare: 'set', expected: false },
    { a: 'A@b.c', b: 'a@B.C', compare: 'case-insensitive', expected: true },
    { a: 'A', b: 'a', compare: 'exact', expected: false },
    { a: undefined, b: null, compare: 'exact', expected: true },
    { a: 12, b: undefined, compare: 'never', expected: true },
    { a: { p: 1, q: 2 }, b: { q: 2, p: 1 }, compare: 'exact', expected: true },
  ]
  for (const { a, b, compare, expected } of same) {
    test(`value: ${JSON.stringify(a)} and ${JSON.stringify(b)} are ${expected ? 'the same' : 'different'} when compared as ${compare}`, () => {
      expect(sameValue(a, b, compare)).toBe(expected)
    })
  }
})
