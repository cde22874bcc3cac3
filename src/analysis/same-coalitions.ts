import type { Coalitions } from '../policy/index.ts'

/** How many ways to spread sets over finer classes are tried before two results are said to be beyond comparing. */
const MOST_SPREADS = 5000

/**
 * Whether two results are the same sets, whatever their classes; undefined when there are too many to tell. Both are spread
 * over the classes that people of both have in common.
 */
export function sameCoalitions(one: Coalitions, other: Coalitions): boolean | undefined {
  if (JSON.stringify(one) === JSON.stringify(other)) return true
  const cells = cellsOf(one, other)
  const [a, b] = [spreadOver(one, cells, 'one'), spreadOver(other, cells, 'other')]
  if (!a || !b) return undefined
  const keys = new Set(a.map((set) => set.join(' ')))
  return a.length === b.length && b.every((set) => keys.has(set.join(' ')))
}

/** Every way to take so many out of each class, told as numbers of each cell of the classes. */
function* spreads(
  left: readonly number[],
  cells: readonly Cell[],
  side: 'one' | 'other',
  at = 0,
): Generator<readonly number[]> {
  const cell = cells[at]
  if (cell === undefined) {
    if (left.every((count) => count === 0)) yield []
    return
  }
  const of = cell[side]
  const most = of === undefined ? 0 : Math.min(left[of]!, cell.names.length)
  // What the later cells of the class cannot take must be taken here.
  const later = cells.slice(at + 1).reduce((sum, next) => (next[side] === of ? sum + next.names.length : sum), 0)
  const least = of === undefined ? 0 : Math.max(0, left[of]! - later)
  for (let count = most; count >= least; count--) {
    const rest = left.map((wanted, index) => (index === of ? wanted - count : wanted))
    for (const others of spreads(rest, cells, side, at + 1)) yield [count, ...others]
  }
}

/**
 * The sets of the first that include no set of the other. Where there are too many to tell, all of the first: those have what they are
 * said to have, though some had it before.
 */
export function without(all: Coalitions, other: Coalitions): Coalitions {
  const cells = cellsOf(all, other)
  const [given, taken] = [spreadOver(all, cells, 'one'), spreadOver(other, cells, 'other')]
  if (!given || !taken) return all
  const left = given.filter((set) => !taken.some((some) => some.every((count, index) => count <= set[index]!)))
  if (left.length === given.length) return all
  return { classes: cells.map(({ names }) => names), found: left }
}

/**
 * The same sets in as few classes as there can be, without those who are in none. How finely people are told apart depends on policies
 * that may not matter to the result; in this form equal results are equal texts. Classes, and people in them, come in a given order.
 */
export function simplest({ classes, found }: Coalitions, placeOf: (name: string) => number): Coalitions {
  const used = [...classes.keys()].filter((index) => found.some((counts) => counts[index]! > 0))
  let groups = used.map((index) => classes[index]!)
  let sets: Coalitions['found'] = found.map((counts) => used.map((index) => counts[index]!))
  for (let a = 0; a < groups.length; a++)
    for (let b = a + 1; b < groups.length; ) {
      const [one, other] = [groups[a]!, groups[b]!]
      const merged = mergedSets(sets, { at: a, size: one.length }, { at: b, size: other.length })
      if (merged) {
        groups = groups.with(a, [...one, ...other]).toSpliced(b, 1)
        sets = merged
      } else b++
    }
  const sorted = groups.map((names) => names.toSorted((x, y) => placeOf(x) - placeOf(y)))
  const order = [...sorted.keys()].sort((x, y) => placeOf(sorted[x]![0]!) - placeOf(sorted[y]![0]!))
  const inOrder = sets.map((counts) => order.map((index) => counts[index]!))
  return { classes: order.map((index) => sorted[index]!), found: inOrder.sort(bySize) }
}

/** The sets with two classes as one; undefined where somebody of the one cannot stand for somebody of the other in each set. */
function mergedSets(
  found: Coalitions['found'],
  one: { readonly at: number; readonly size: number },
  other: { readonly at: number; readonly size: number },
): Coalitions['found'] | undefined {
  const merged = new Map<string, { readonly counts: readonly number[]; ways: number }>()
  for (const counts of found) {
    const together = counts.with(one.at, counts[one.at]! + counts[other.at]!).toSpliced(other.at, 1)
    const key = together.join(' ')
    const known = merged.get(key)
    if (known) known.ways++
    else merged.set(key, { counts: together, ways: 1 })
  }
  const all = [...merged.values()]
  const isWhole = all.every(({ counts, ways }) => {
    const sum = counts[one.at]!
    return ways === Math.min(sum, one.size) - Math.max(0, sum - other.size) + 1
  })
  return isWhole ? all.map(({ counts }) => counts) : undefined
}

/** The smallest first; of one size, those with most of the first class. */
function bySize(a: readonly number[], b: readonly number[]): number {
  const size = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  const at = a.findIndex((count, index) => count !== b[index])
  return size(a) - size(b) || (at < 0 ? 0 : b[at]! - a[at]!)
}

/** People whom neither result tells apart, and their class in each. */
interface Cell {
  readonly names: readonly string[]
  readonly one: number | undefined
  readonly other: number | undefined
}

function cellsOf(one: Coalitions, other: Coalitions): readonly Cell[] {
  const classIn = ({ classes }: Coalitions) =>
    new Map(classes.flatMap((names, index) => names.map((name) => [name, index] as const)))
  const [inOne, inOther] = [classIn(one), classIn(other)]
  const names = new Set([...inOne.keys(), ...inOther.keys()])
  return [...Map.groupBy(names, (name) => `${inOne.get(name)} ${inOther.get(name)}`).values()].map((some) => ({
    names: some,
    one: inOne.get(some[0]!),
    other: inOther.get(some[0]!),
  }))
}

/** All sets as numbers of each cell, each once; undefined when there are too many. */
function spreadOver(
  { found }: Coalitions,
  cells: readonly Cell[],
  side: 'one' | 'other',
): readonly (readonly number[])[] | undefined {
  const sets = new Map<string, readonly number[]>()
  for (const counts of found) {
    for (const over of spreads(counts, cells, side)) {
      sets.set(over.join(' '), over)
      if (sets.size > MOST_SPREADS) return undefined
    }
  }
  return [...sets.values()]
}
