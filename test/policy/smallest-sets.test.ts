import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { smallestSets } from '../../src/policy/index.ts'

describe('smallest sets', () => {
  test('any k of n is said in one', () => {
    const found = smallestSets([['a', 'b', 'c', 'd']], (names) => names.length >= 2)
    expect(found).toEqual({
      sets: [
        ['a', 'b'],
        ['a', 'c'],
        ['a', 'd'],
        ['b', 'c'],
        ['b', 'd'],
        ['c', 'd'],
      ],
      any: { count: 2, of: ['a', 'b', 'c', 'd'] },
    })
  })

  test('a long list is cut at 20 sets, and what is said in one is not', () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${String(index).padStart(2, '0')}`)
    const found = smallestSets([names], (chosen) => chosen.length >= 15)
    if (!found || found === 'gave-up') throw new Error('expected sets')
    expect(found.sets).toHaveLength(20)
    expect(found.any).toEqual({ count: 15, of: names })
  })

  test('none is undefined, and too many ways to try is giving up', () => {
    expect(smallestSets([['a'], ['b']], () => false)).toBeUndefined()
    const apart = Array.from({ length: 40 }, (_, index) => [`n${index}`])
    expect(smallestSets(apart, () => false)).toBe('gave-up')
  })

  test('what is found is what trying every set finds, for any rule that counts classes', () => {
    const rules = fc.array(fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)), { minLength: 1, maxLength: 3 })
    const sizes = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3))
    fc.assert(
      fc.property(rules, sizes, (needs, counts) => {
        const classes = counts.map((count, index) => Array.from({ length: count }, (_, n) => `${'xyz'[index]}${n}`))
        const suffices = (names: readonly string[]) =>
          names.length > 0 &&
          needs.some((need) =>
            need.every((count, index) => names.filter((name) => name[0] === 'xyz'[index]).length >= count),
          )
        const found = smallestSets(classes, suffices)
        const every = subsetsOf(classes.flat()).filter(suffices)
        const least = Math.min(...every.map(({ length }) => length))
        const expected = every.filter(({ length }) => length === least).map((names) => [...names].sort().join())
        if (found === 'gave-up') throw new Error('gave up')
        expect((found?.sets ?? []).map((names) => names.join())).toEqual(expected.sort().slice(0, 20))
        const used = new Set(expected.flatMap((names) => names.split(',')))
        const all = subsetsOf([...used]).filter(({ length }) => length === least).length === expected.length
        expect(found?.any !== undefined).toBe(expected.length > 0 && all)
      }),
    )
  })
})

function subsetsOf(names: readonly string[]): readonly (readonly string[])[] {
  const choices = Array.from({ length: 2 ** names.length }, (_, bits) => bits)
  return choices.map((bits) => names.filter((_, index) => (bits >> index) & 1))
}
