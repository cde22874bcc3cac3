import type { Coalitions } from '../policy/index.ts'

/** How many ways to spread sets over finer classes are tried before two results are said to be beyond comparing. */
const MOST_SPREADS = 5000

/**
 * Whether two results are the same sets, whatever their classes; undefined when there are too many to tell. Both are spread
 * over the classes that people of both have in common.
 */
export function sameCoalitions(one: Coalitions, other: Coalitions): boolean | undefined {
  if (JSON.stringify(one) === JSON.stringify(other)) return true
  const classIn = ({ classes }: Coalitions) =>
    new Map(classes.flatMap((names, index) => names.map((name) => [name, index] as const)))
  const [inOne, inOther] = [classIn(one), classIn(other)]
  const cells = [
    ...Map.groupBy(new Set([...inOne.keys(), ...inOther.keys()]), (name) => `${inOne.get(name)} ${inOther.get(name)}`),
  ].map(([, names]) => ({ size: names.length, one: inOne.get(names[0]!), other: inOther.get(names[0]!) }))
  const spread = ({ found }: Coalitions, side: 'one' | 'other'): ReadonlySet<string> | undefined => {
    const keys = new Set<string>()
    for (const counts of found) {
      for (const over of spreads(counts, cells, side)) {
        keys.add(over.join(' '))
        if (keys.size > MOST_SPREADS) return undefined
      }
    }
    return keys
  }
  const [a, b] = [spread(one, 'one'), spread(other, 'other')]
  return a && b && a.size === b.size && [...a].every((key) => b.has(key))
}

/** Every way to take so many out of each class, told as numbers of each cell of the classes. */
function* spreads(
  left: readonly number[],
  cells: readonly { readonly size: number; readonly one: number | undefined; readonly other: number | undefined }[],
  side: 'one' | 'other',
  at = 0,
): Generator<readonly number[]> {
  const cell = cells[at]
  if (cell === undefined) {
    if (left.every((count) => count === 0)) yield []
    return
  }
  const of = cell[side]
  const most = of === undefined ? 0 : Math.min(left[of]!, cell.size)
  // What the later cells of the class cannot take must be taken here.
  const later = cells.slice(at + 1).reduce((sum, next) => (next[side] === of ? sum + next.size : sum), 0)
  const least = of === undefined ? 0 : Math.max(0, left[of]! - later)
  for (let count = most; count >= least; count--) {
    const rest = left.map((wanted, index) => (index === of ? wanted - count : wanted))
    for (const others of spreads(rest, cells, side, at + 1)) yield [count, ...others]
  }
}

/** The sets of each size that are not those of the same size in the other. */
export function without(all: Coalitions, other: Coalitions): Coalitions {
  const sizes = [...new Set(all.found.map(sizeOf))]
  const ofSize = ({ classes, found }: Coalitions, size: number): Coalitions => ({
    classes,
    found: found.filter((counts) => sizeOf(counts) === size),
  })
  const left = sizes.filter((size) => sameCoalitions(ofSize(all, size), ofSize(other, size)) !== true)
  return { classes: all.classes, found: all.found.filter((counts) => left.includes(sizeOf(counts))) }
}

function sizeOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
