/**
 * Sets of people who together get something allowed, and from which nobody can be left out. They vote one after another, so
 * what is looked for are orders: every vote but the last leaves the request waiting. People whom nothing can tell apart form a
 * *class*; instead of sets of people, so many out of each class are tried, smallest first. With a quorum of 7 out of 30 equal
 * members that is seven trials, not two million.
 */

/** How many votes are tried before giving up. */
const MOST_TRIALS = 5000
/** How many sets of one size are written out. */
const MOST_SETS = 20

/** Somebody, and the ways in which they can vote; of one class all have equally many, alike in pairs. */
export interface Elector<Ballot> {
  readonly name: string
  readonly ballots: readonly Ballot[]
}

/**
 * What one more vote does: `allowed` ends the search there · `refused` is no vote, but it may be one later · `denied` is none in
 * any order · otherwise the state with it, in which the request waits.
 */
export type Join<State, Ballot> = (
  state: State,
  ballot: Ballot,
) => { readonly waits: State } | 'allowed' | 'refused' | 'denied'

/** Sets as numbers of people of each class: `found[i][c]` out of class `c`. */
export interface Coalitions {
  /** Names. */
  readonly classes: readonly (readonly string[])[]
  readonly found: readonly (readonly number[])[]
}

/** Sets of one size. */
export interface SetsOfPeople {
  /** At most 20, each sorted, in order. */
  readonly sets: readonly (readonly string[])[]
  /** When the sets are all those of `count` names out of `of`. */
  readonly any?: { readonly count: number; readonly of: readonly string[] }
  /** How many more there are than are written out, where `any` does not say it. */
  readonly more?: number
}

interface Node<State> {
  readonly state: State
  readonly used: readonly number[]
  /** Which votes there are, in their order where that matters. */
  readonly votes: readonly number[]
}

/**
 * Finds the sets: the `smallest` alone, or `all` of them; `gave-up` when there are too many votes to try. `ordered` says that
 * the order of votes matters to `join`; where it does not, more than `mostAlike` votes of the same kind change nothing.
 */
export function findCoalitions<State, Ballot>(
  classes: readonly (readonly Elector<Ballot>[])[],
  {
    start,
    join,
    which,
    ordered = false,
    mostAlike = Number.POSITIVE_INFINITY,
  }: {
    readonly start: State
    readonly join: Join<State, Ballot>
    readonly which: 'smallest' | 'all'
    readonly ordered?: boolean
    readonly mostAlike?: number
  },
): Coalitions | 'gave-up' {
  // A move is a class and one of its ways to vote; its name is how many stand before it.
  const firstMoves = classes.map((_, of) => classes.slice(0, of).reduce((sum, members) => sum + waysOf(members), 0))
  const found: (readonly number[])[] = []
  let trials = 0
  let open: readonly Node<State>[] = [{ state: start, used: classes.map(() => 0), votes: [] }]
  while (open.length > 0) {
    const next = new Map<string, Node<State> | 'denied'>()
    const here: (readonly number[])[] = []
    /** By counts, whether a set that was found is among them; many votes come to the same counts. */
    const covered = new Map<string, boolean>()
    for (const { state, used, votes } of open) {
      for (const [of, members] of classes.entries()) {
        const member = members[used[of]!]
        if (member === undefined) continue
        const counts = used.map((count, index) => (index === of ? count + 1 : count))
        const countsKey = counts.join(' ')
        const isCovered = covered.get(countsKey) ?? found.some((smaller) => isWithin(smaller, counts))
        covered.set(countsKey, isCovered)
        if (isCovered) continue
        for (const [way, ballot] of member.ballots.entries()) {
          const move = firstMoves[of]! + way
          if (!ordered && votes.reduce((alike, vote) => (vote === move ? alike + 1 : alike), 0) >= mostAlike) continue
          const more = ordered ? [...votes, move] : [...votes, move].sort((a, b) => a - b)
          const key = more.join(' ')
          if (next.has(key)) continue
          if (++trials > MOST_TRIALS) return 'gave-up'
          const joined = join(state, ballot)
          if (joined === 'allowed') {
            here.push(counts)
            covered.set(countsKey, true)
            break
          }
          if (joined === 'denied') next.set(key, joined)
          else if (joined !== 'refused') next.set(key, { state: joined.waits, used: counts, votes: more })
        }
      }
    }
    // Most of the first class first, so that what is cut does not depend on how it was found.
    found.push(...here.sort(byCounts))
    if (which === 'smallest' && found.length > 0) break
    open = [...next.values()].filter((node) => node !== 'denied')
  }
  return { classes: classes.map((members) => members.map(({ name }) => name)), found }
}

const waysOf = (members: readonly Elector<unknown>[]): number => members[0]?.ballots.length ?? 0

function byCounts(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((count, index) => count !== b[index])
  return at < 0 ? 0 : b[at]! - a[at]!
}

function isWithin(smaller: readonly number[], counts: readonly number[]): boolean {
  return smaller.every((count, index) => count <= counts[index]!)
}

/** Writes the sets out, an entry for each size, the smallest first. */
export function writeOut({ classes, found }: Coalitions): readonly SetsOfPeople[] {
  const bySize = Map.groupBy(found, (counts) => counts.reduce((sum, count) => sum + count, 0))
  return [...bySize].sort(([a], [b]) => a - b).map(([size, some]) => writeSize(classes, some, size))
}

/**
 * As `writeOut`, but where the sets of a size are all those of one team and others of another, such as any 2 of the root quorum or
 * any 2 of the treasury, each such team has an entry of its own: it is said in one, and not cut.
 */
export function writeByTeam({ classes, found }: Coalitions): readonly SetsOfPeople[] {
  return writeOut({ classes, found }).flatMap((whole) => {
    if (whole.any) return [whole]
    const size = whole.sets[0]!.length
    const ofSize = found.filter((counts) => counts.reduce((sum, count) => sum + count, 0) === size)
    const parts = apart(ofSize).map((some) => ({ some, written: writeSize(classes, some, size) }))
    const isTeam = ({ any }: SetsOfPeople) => any !== undefined && any.of.length > any.count
    const teams = parts.flatMap(({ written }) => (isTeam(written) ? [written] : []))
    const rest = parts.flatMap(({ some, written }) => (isTeam(written) ? [] : some))
    if (teams.length === 0) return [whole]
    return [...teams, ...(rest.length > 0 ? [writeSize(classes, rest, size)] : [])]
  })
}

/** Sets in groups that have no class in common. */
function apart(found: readonly (readonly number[])[]): readonly (readonly (readonly number[])[])[] {
  let groups: (readonly (readonly number[])[])[] = []
  for (const counts of found) {
    const shares = (group: readonly (readonly number[])[]) =>
      group.some((other) => other.some((count, index) => count > 0 && counts[index]! > 0))
    groups = [...groups.filter((group) => !shares(group)), [...groups.filter(shares).flat(), counts]]
  }
  return groups
}

function writeSize(
  classes: readonly (readonly string[])[],
  found: readonly (readonly number[])[],
  size: number,
): SetsOfPeople {
  const used = classes.filter((_, index) => found.some((counts) => counts[index]! > 0)).flat()
  const sets = [...firstSets(classes, found, size)]
  const ways = found.reduce(
    (sum, counts) => sum + counts.reduce((n, count, index) => n * binomial(classes[index]!.length, count), 1),
    0,
  )
  if (ways === binomial(used.length, size)) return { sets, any: { count: size, of: used.sort() } }
  return ways > sets.length ? { sets, more: ways - sets.length } : { sets }
}

/**
 * The first `MOST_SETS` sets in the order of their names, whatever the order of the classes. A name is taken only where some
 * of the counts can still be reached with the names after it, so that no step is in vain.
 */
function* firstSets(
  classes: readonly (readonly string[])[],
  found: readonly (readonly number[])[],
  size: number,
): Generator<readonly string[]> {
  const people = classes
    .flatMap((names, of) => names.map((name) => ({ name, of })))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  let left = MOST_SETS
  function* extend(set: readonly string[], taken: readonly number[], from: number): Generator<readonly string[]> {
    if (set.length === size) {
      left--
      yield set
      return
    }
    const after = classes.map(() => 0)
    for (const { of } of people.slice(from)) after[of]!++
    for (let at = from; at < people.length && left > 0; at++) {
      const { name, of } = people[at]!
      after[of]!--
      const counts = taken.with(of, taken[of]! + 1)
      const canEnd = found.some((some) =>
        some.every((count, index) => counts[index]! <= count && count <= counts[index]! + after[index]!),
      )
      if (canEnd) yield* extend([...set, name], counts, at + 1)
    }
  }
  yield* extend([], new Array<number>(classes.length).fill(0), 0)
}

function binomial(n: number, k: number): number {
  let result = 1
  for (let i = 1; i <= Math.min(k, n - k); i++) result = (result * (n - i + 1)) / i
  return k > n ? 0 : Math.round(result)
}
