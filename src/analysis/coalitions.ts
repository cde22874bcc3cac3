/**
 * All sets of people that suffice and from which nobody can be left out. People that no rule can tell apart are tried
 * once, as in the policy room's smallest sets; unlike there, larger sets that hold no smaller one are found as well:
 * somebody who gains power only together with others gains it all the same.
 */
import type { Ways } from '../plan/index.ts'
import type { Person } from './people.ts'

/** How many choices are tried before giving up. */
const MOST_TRIALS = 3000
/** How many sets of one size are written out. */
const MOST_SETS = 20

/** Finds the sets, one entry a size; undefined when there are too many choices to try. `classes` are people who are alike. */
export function coalitions(
  classes: readonly (readonly Person[])[],
  suffices: (people: readonly Person[]) => boolean,
): readonly Ways[] | undefined {
  const limits = classes.map(({ length }) => length)
  const total = limits.reduce((sum, length) => sum + length, 0)
  const found: (readonly number[])[] = []
  const ways: Ways[] = []
  let trials = 0
  for (let size = 1; size <= total; size++) {
    const here: (readonly number[])[] = []
    let open = false
    for (const counts of choices(limits, size)) {
      if (++trials > MOST_TRIALS) return undefined
      if (found.some((smaller) => smaller.every((count, index) => count <= counts[index]!))) continue
      open = true
      if (suffices(counts.flatMap((count, index) => classes[index]!.slice(0, count)))) here.push(counts)
    }
    if (here.length > 0) ways.push(writeOut(classes, here, size))
    found.push(...here)
    // Every choice of this size holds one that suffices, and so does every larger one.
    if (!open) break
  }
  return ways
}

function writeOut(classes: readonly (readonly Person[])[], found: readonly (readonly number[])[], size: number): Ways {
  const names = classes.map((people) => people.map(({ name }) => name))
  const used = names.filter((_, index) => found.some((counts) => counts[index]! > 0)).flat()
  const number = found.reduce(
    (sum, counts) => sum + counts.reduce((n, count, index) => n * binomial(names[index]!.length, count), 1),
    0,
  )
  const sets: (readonly string[])[] = []
  for (const counts of found) {
    for (const set of product(names.map((of, index) => [...subsets(of, counts[index]!)]))) {
      if (sets.length < MOST_SETS) sets.push([...set].sort())
    }
  }
  sets.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return { sets, ...(number === binomial(used.length, size) ? { any: { count: size, of: used.sort() } } : {}) }
}

function* choices(limits: readonly number[], size: number, from = 0): Generator<readonly number[]> {
  const limit = limits[from]
  if (limit === undefined) {
    if (size === 0) yield []
    return
  }
  for (let count = Math.min(limit, size); count >= 0; count--) {
    for (const others of choices(limits, size - count, from + 1)) yield [count, ...others]
  }
}

function* subsets(names: readonly string[], size: number): Generator<readonly string[]> {
  if (size === 0) yield []
  let left = MOST_SETS
  for (let first = 0; size > 0 && first + size <= names.length && left > 0; first++) {
    for (const rest of subsets(names.slice(first + 1), size - 1)) {
      yield [names[first]!, ...rest]
      if (--left === 0) return
    }
  }
}

function* product(lists: readonly (readonly (readonly string[])[])[], from = 0): Generator<readonly string[]> {
  const first = lists[from]
  if (!first) {
    yield []
    return
  }
  for (const set of first) for (const others of product(lists, from + 1)) yield [...set, ...others]
}

function binomial(n: number, k: number): number {
  let result = 1
  for (let i = 1; i <= Math.min(k, n - k); i++) result = (result * (n - i + 1)) / i
  return k > n ? 0 : Math.round(result)
}
