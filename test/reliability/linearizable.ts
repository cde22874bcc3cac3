/**
 * Is a history of concurrent calls as if each had happened at one moment between its call and its answer? The search of Wing and
 * Gong (1993) with the memory of Lowe (2017): the next call of an order may be any that no unplaced call had ended before. A call
 * without an answer may have happened at any later moment, or never.
 */

/** One call, by a clock that all callers share. */
export interface Call<Asked, Answered> {
  readonly asked: Asked
  /** Absent where nobody answered. */
  readonly answered?: Answered
  readonly from: number
  readonly to: number
}

/** What the calls do when they happen one after another. States are values: `apply` changes none. */
export interface Model<State, Asked, Answered> {
  readonly initial: State
  readonly apply: (state: State, asked: Asked) => { readonly state: State; readonly answer: Answered }
}

/** States that are looked at before a history counts as one that nothing explains; one that is explained takes some hundreds. */
const MOST_STATES = 50_000

/**
 * An order that explains every answer, as places in `calls`; undefined where none is found. What changes
 * nothing and was answered so is placed as soon as it may be: no later place could suit the others better.
 */
export function findOrder<State, Asked, Answered>(
  calls: readonly Call<Asked, Answered>[],
  model: Model<State, Asked, Answered>,
): readonly number[] | undefined {
  const isAnswered = calls.map((call) => call.answered !== undefined)
  const endOf = calls.map((call) => (call.answered === undefined ? Number.POSITIVE_INFINITY : call.to))
  const answers = calls.map(({ answered }) => JSON.stringify(answered))
  const placed = calls.map(() => false)
  const order: number[] = []
  const seen = new Set<string>()
  let left = isAnswered.filter(Boolean).length

  function search(state: State): boolean {
    if (left === 0) return true
    const key = `${placed.map(Number).join('')} ${JSON.stringify(state)}`
    if (seen.has(key)) return false
    if (seen.size >= MOST_STATES) return false
    seen.add(key)
    const firstEnd = Math.min(...endOf.filter((_, index) => !placed[index]))
    const may: { readonly index: number; readonly next: State }[] = []
    for (const [index, call] of calls.entries()) {
      if (placed[index] || call.from > firstEnd) continue
      const next = model.apply(state, call.asked)
      const isSame = next.state === state
      if (isAnswered[index] ? JSON.stringify(next.answer) !== answers[index] : isSame) continue
      if (isSame) may.splice(0, may.length, { index, next: state })
      else may.push({ index, next: next.state })
      if (isSame) break
    }
    // What nobody was answered is placed where nothing else explains the rest.
    for (const { index, next } of may.sort((a, b) => Number(isAnswered[b.index]) - Number(isAnswered[a.index]))) {
      placed[index] = true
      order.push(index)
      if (isAnswered[index]) left--
      if (search(next)) return true
      placed[index] = false
      order.pop()
      if (isAnswered[index]) left++
    }
    return false
  }

  return search(model.initial) ? order : undefined
}

/**
 * The calls up to the first answer that no order explains, with those that were on their way then; undefined where all are
 * explained. A fault is found in the few calls before it, where all of them would be too many orders.
 */
export function findFault<State, Asked, Answered>(
  calls: readonly Call<Asked, Answered>[],
  model: Model<State, Asked, Answered>,
): readonly Call<Asked, Answered>[] | undefined {
  const ends = calls.filter(({ answered }) => answered !== undefined).map(({ to }) => to)
  for (const end of ends.sort((a, b) => a - b)) {
    const begun = calls.filter(({ from }) => from <= end)
    const until = begun.map((call) => (call.to <= end ? call : { asked: call.asked, from: call.from, to: call.to }))
    if (!findOrder(until, model)) return until
  }
  return undefined
}
