import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameCoalitions } from '../../src/analysis/same-coalitions.ts'
import { findCoalitions } from '../../src/policy/coalitions.ts'
import { type SetsOfPeople, writeByTeam, writeOut } from '../../src/policy/index.ts'

/** The smallest sets of names for which a rule holds, where everybody may vote. */
function smallestSets(
  classes: readonly (readonly string[])[],
  suffices: (names: readonly string[]) => boolean,
): SetsOfPeople | undefined | 'gave-up' {
  const electors = classes.map((names) => names.map((name) => ({ name, ballots: [name] })))
  const found = findCoalitions(electors, {
    start: [] as readonly string[],
    join: (names, name) => (suffices([...names, name]) ? 'allowed' : { waits: [...names, name] }),
    which: 'smallest',
  })
  return found === 'gave-up' ? found : writeOut(found)[0]
}

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
      // More than are listed, of two kinds: those that are listed are the first of all, not all of the first kind.
      {
        examples: [
          [
            [
              [1, 2, 1],
              [1, 1, 2],
              [2, 0, 2],
            ],
            [3, 3, 2],
          ],
        ],
      },
    )
  })
})

describe('by team', () => {
  const quorum = ['ann', 'ben', 'cleo']
  const desk = Array.from({ length: 9 }, (_, index) => `desk${index}`)

  test('any 2 of one team or any 2 of another is said of each, and none is cut', () => {
    const told = writeByTeam({
      classes: [quorum, desk],
      found: [
        [2, 0],
        [0, 2],
      ],
    })
    expect(told.map(({ any }) => any)).toEqual([
      { count: 2, of: quorum },
      { count: 2, of: desk },
    ])
    expect(told.every(({ more }) => more === undefined)).toBe(true)
  })

  test('what is of no team follows, and without a team nothing is told in parts', () => {
    const classes = [quorum, ['dan'], ['eve'], ['finn']]
    const pair = [0, 1, 1, 0]
    expect(writeByTeam({ classes, found: [pair, [2, 0, 0, 0], [0, 0, 1, 1]] }).slice(1)).toEqual([
      {
        sets: [
          ['dan', 'eve'],
          ['eve', 'finn'],
        ],
      },
    ])
    const found = [pair, [0, 0, 1, 1]]
    expect(writeByTeam({ classes, found })).toEqual(writeOut({ classes, found }))
  })

  test('in parts it is the same sets as in one, each once, wherever none is cut', () => {
    const counts = fc
      .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.nat(1))
      .filter((some) => some.some((count) => count > 0))
    fc.assert(
      fc.property(fc.uniqueArray(counts, { minLength: 1, maxLength: 4, selector: String }), (found) => {
        const classes = [['a', 'b'], ['c', 'd'], ['e', 'f'], ['g']]
        const sets = (written: readonly SetsOfPeople[]) =>
          written.flatMap((one) => one.sets.map((set) => set.join())).sort()
        expect(sets(writeByTeam({ classes, found }))).toEqual(sets(writeOut({ classes, found })))
      }),
    )
  })
})

describe('coalitions', () => {
  test('a person has one vote, with whichever credential helps', () => {
    const join = (votes: readonly string[], vote: string) => {
      const more = [...votes, vote]
      return ['passkey', 'laptop'].every((kind) => more.some((one) => one.endsWith(kind))) ? 'allowed' : { waits: more }
    }
    const both = { name: 'ana', ballots: ['ana laptop', 'ana passkey'] }
    const found = (others: readonly { readonly name: string; readonly ballots: readonly string[] }[]) => {
      const classes = [both, ...others].map((one) => [one])
      const all = findCoalitions(classes, { start: [] as readonly string[], join, which: 'all' })
      return all === 'gave-up' ? all : writeOut(all).flatMap(({ sets }) => sets)
    }
    expect(found([])).toEqual([])
    expect(found([{ name: 'bob', ballots: ['bob laptop'] }])).toEqual([['ana', 'bob']])
  })

  test('who is refused now may vote later, and a denied set is denied in any order', () => {
    const join = (votes: readonly string[], vote: string) => {
      const more = [...votes, vote]
      if (vote === 'b' && !votes.includes('a')) return 'refused' as const
      if (more.includes('c')) return 'denied' as const
      return more.length === 2 ? ('allowed' as const) : { waits: more }
    }
    const classes = ['b', 'c', 'a'].map((name) => [{ name, ballots: [name] }])
    const found = findCoalitions(classes, { start: [] as readonly string[], join, which: 'all' })
    expect(found === 'gave-up' ? found : writeOut(found)).toEqual([
      { sets: [['a', 'b']], any: { count: 2, of: ['a', 'b'] } },
    ])
  })

  test('two results are the same exactly when their sets are, whatever their classes and however many', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const family = fc
      .record({
        split: fc.array(fc.nat(2), { minLength: names.length, maxLength: names.length }),
        rules: fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)), { maxLength: 3 }),
      })
      .map(({ split, rules }) => {
        const classes = [0, 1, 2].map((of) => names.filter((_, index) => split[index] === of))
        const found = rules.filter((counts) => counts.every((count, index) => count <= classes[index]!.length))
        return { classes, found }
      })
    const written = ({ classes, found }: { classes: string[][]; found: number[][] }) =>
      JSON.stringify(
        subsetsOf(names).filter((set) =>
          found.some((counts) =>
            counts.every((count, index) => set.filter((name) => classes[index]!.includes(name)).length === count),
          ),
        ),
      )
    let equal = 0
    fc.assert(
      fc.property(family, family, (one, other) => {
        const same = written(one) === written(other)
        if (same) equal++
        expect(sameCoalitions(one, other)).toBe(same)
      }),
      { numRuns: 400 },
    )
    expect(equal).toBeGreaterThan(5)
    // 30 choose 15 of them: two that are written out alike, because only 20 are, are still told apart.
    const many = Array.from({ length: 30 }, (_, index) => `n${index}`)
    const [first, second] = [
      { classes: [many], found: [[15]] },
      { classes: [many.slice(0, 29), many.slice(29)], found: [[15, 0]] },
    ]
    expect(sameCoalitions(first, second)).toBe(false)
    expect(
      sameCoalitions(first, {
        classes: [many.slice(0, 15), many.slice(15)],
        found: Array.from({ length: 16 }, (_, k) => [k, 15 - k]),
      }),
    ).toBe(true)
  })
})

function subsetsOf(names: readonly string[]): readonly (readonly string[])[] {
  const choices = Array.from({ length: 2 ** names.length }, (_, bits) => bits)
  return choices.map((bits) => names.filter((_, index) => (bits >> index) & 1))
}
