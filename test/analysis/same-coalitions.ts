/** What is said of equal sets of people, held against the sets written out. */
import fc from 'fast-check'
import type * as sets from '../../src/analysis/same-coalitions.ts'
import type { Coalitions } from '../../src/policy/index.ts'

type Sets = typeof sets

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const placeOf = (name: string) => NAMES.indexOf(name)

/** Some people in classes, and numbers of each class; nobody can be left out of a set, as of all that are told. */
const coalitions: fc.Arbitrary<Coalitions> = fc
  .record({
    split: fc.array(fc.nat(3), { minLength: NAMES.length, maxLength: NAMES.length }),
    found: fc.array(fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }), { maxLength: 3 }),
  })
  .map(({ split, found }) => {
    const classes = [0, 1, 2].map((of) => NAMES.filter((_, index) => split[index] === of))
    const some = found.filter((counts) => counts.some((count) => count > 0))
    const possible = some.filter((counts) => counts.every((count, index) => count <= classes[index]!.length))
    const least = possible.filter(
      (counts, at) =>
        !possible.some((other, index) => index !== at && other.every((count, of) => count <= counts[of]!)),
    )
    return { classes, found: least }
  })

function written({ classes, found }: Coalitions): readonly string[] {
  return found
    .flatMap((counts) =>
      counts.reduce<readonly string[]>(
        (some, count, of) =>
          some.flatMap((set) =>
            subsets(classes[of]!)
              .filter(({ length }) => length === count)
              .map((more) => [...set, ...more].sort().join('')),
          ),
        [''],
      ),
    )
    .sort()
}

function subsets([first, ...rest]: readonly string[]): readonly (readonly string[])[] {
  return first === undefined ? [[]] : subsets(rest).flatMap((some) => [some, [first, ...some]])
}

const isWithin = (small: string, large: string) => [...small].every((name) => large.includes(name))

/** What is said untruly of generated sets, in words; none where all is true. */
export function* faultsOfSets({ sameCoalitions, without, simplest }: Sets, count: number): Generator<string> {
  for (const [one, other] of fc.sample(fc.tuple(coalitions, coalitions), { numRuns: count, seed: 20_261_126 })) {
    const [a, b] = [written(one), written(other)]
    const told = JSON.stringify([one, other])
    const isSame = a.join() === b.join()
    if (sameCoalitions(one, other) !== isSame) yield `the same: ${told}`
    const left = a.filter((set) => !b.some((some) => isWithin(some, set)))
    if (written(without(one, other)).join() !== left.join()) yield `without: ${told}`
    const [plain, plainOther] = [one, other].map((some) => simplest(some, placeOf))
    if (written(plain!).join() !== a.join()) yield `simplest: ${told}`
    if (isSame && a.length > 0 && JSON.stringify(plain) !== JSON.stringify(plainOther)) yield `texts: ${told}`
    if (sameCoalitions(one, finer(one)) !== true) yield `the same, finer: ${told}`
    const split = simplest(finer(one), placeOf)
    if (a.length > 0 && JSON.stringify(split) !== JSON.stringify(plain)) yield `finer: ${told}`
  }
}

/** The same sets in classes of one. */
function finer(some: Coalitions): Coalitions {
  const found = written(some).map((set) => NAMES.map((name) => Number(set.includes(name))))
  return { classes: NAMES.map((name) => [name]), found }
}
