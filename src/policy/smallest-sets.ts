/**
 * The smallest sets of people that suffice. People whom no rule can tell apart are tried once: instead of sets of people,
 * so many out of each *class* are chosen, smallest first, and choices that suffice are written out as sets. With a quorum
 * of 7 out of 30 equal members that is seven trials, not two million.
 */

/** How many choices are tried before giving up. */
const MOST_TRIALS = 5000
/** How many sets are written out. */
const MOST_SETS = 20

export interface SmallestSets {
  /** At most 20 sets, each sorted, in order. */
  readonly sets: readonly (readonly string[])[]
  /** When the sets are all those of `count` names out of `of`. */
  readonly any?: { readonly count: number; readonly of: readonly string[] }
}

/**
 * Finds the smallest sets of names for which `suffices` holds; undefined when there is none, `gave-up` when there are too
 * many choices to try. `classes` are names that are alike; `suffices` is asked with members of each class in order.
 */
export function smallestSets(
  classes: readonly (readonly string[])[],
  suffices: (names: readonly string[]) => boolean,
): SmallestSets | undefined | 'gave-up' {
  const total = classes.reduce((sum, { length }) => sum + length, 0)
  let trials = 0
  for (let size = 1; size <= total; size++) {
    const found: (readonly number[])[] = []
    for (const counts of choices(
      classes.map(({ length }) => length),
      size,
    )) {
      if (++trials > MOST_TRIALS) return 'gave-up'
      if (suffices(counts.flatMap((count, index) => classes[index]!.slice(0, count)))) found.push(counts)
    }
    if (found.length > 0) return writeOut(classes, found, size)
  }
  return undefined
}

function writeOut(
  classes: readonly (readonly string[])[],
  found: readonly (readonly number[])[],
  size: number,
): SmallestSets {
  const used = classes.filter((_, index) => found.some((counts) => counts[index]! > 0)).flat()
  const sets: (readonly string[])[] = []
  for (const counts of found) {
    for (const set of product(counts.map((count, index) => [...subsets(classes[index]!, count, MOST_SETS)]))) {
      if (sets.length < MOST_SETS) sets.push([...set].sort())
    }
  }
  sets.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const ways = found.reduce(
    (sum, counts) => sum + counts.reduce((n, count, index) => n * binomial(classes[index]!.length, count), 1),
    0,
  )
  return ways === binomial(used.length, size) ? { sets, any: { count: size, of: used.sort() } } : { sets }
}

/** Ways to choose `size` in all, at most so many of each class. */
function* choices(limits: readonly number[], size: number): Generator<readonly number[]> {
  const [limit, ...rest] = limits
  if (limit === undefined) {
    if (size === 0) yield []
    return
  }
  for (let count = Math.min(limit, size); count >= 0; count--) {
    for (const others of choices(rest, size - count)) yield [count, ...others]
  }
}

function* subsets(names: readonly string[], size: number, most: number): Generator<readonly string[]> {
  if (size === 0) yield []
  let left = most
  for (let first = 0; size > 0 && first + size <= names.length && left > 0; first++) {
    for (const rest of subsets(names.slice(first + 1), size - 1, left)) {
      yield [names[first]!, ...rest]
      if (--left === 0) return
    }
  }
}

function* product(lists: readonly (readonly (readonly string[])[])[]): Generator<readonly string[]> {
  const [first, ...rest] = lists
  if (!first) {
    yield []
    return
  }
  for (const set of first) for (const others of product(rest)) yield [...set, ...others]
}

function binomial(n: number, k: number): number {
  let result = 1
  for (let i = 1; i <= Math.min(k, n - k); i++) result = (result * (n - i + 1)) / i
  return k > n ? 0 : Math.round(result)
}
