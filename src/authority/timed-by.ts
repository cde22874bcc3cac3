/**
 * Which policies may make an answer another at another time: by day nobody else may be needed, and at night somebody.
 *
 * Two moments at which the answers differ are compared, between whose states of the policies no other comes: of the policies that are
 * active at one of them alone, the smallest sets are looked for that, had they been at the second as they were at the first, would have
 * given the first answer. The policies of such sets are named. Of policies that take turns, such as one by day and one at night that ask
 * for the same, neither is.
 */
import { type CompiledPolicy, type PolicyContext, takingPart } from '../policy/index.ts'
import { type Instants, instantsOf, whenActive } from './instants.ts'

/** Where more answers than these would have to be asked for, or not every moment was looked at, each policy that takes part at some time is named. */
const MOST_ANSWERS = 64

/**
 * Finds the names of the policies whose times, as they open or close after the moment of the request, may change an answer about it.
 * @param answer gives it, as JSON, by policies.
 */
export function timedBy(
  policies: readonly CompiledPolicy[],
  request: PolicyContext,
  answer: (policies: readonly CompiledPolicy[]) => unknown,
): readonly string[] {
  const open = timedTakingPart(policies, request)
  if (open.length === 0) return []
  const active = new Map(open.map((one) => [one, alwaysActive(one)]))
  const named = (some: readonly CompiledPolicy[]) => [...new Set(some.map(({ policy: { name } }) => name))].sort()

  const times = [...new Set(open.map(({ policy: { time } }) => time!))]
  const instants = instantsOf(times, request.now)
  // A state: whether each of the open policies is active, one bit each.
  const states = statesOf(open, instants, request.now)
  if (instants.isCut || states.length > MOST_ANSWERS) return named(open)
  const answers = new Map<bigint, string>()
  const answerIn = (state: bigint): string => {
    const isActive = (one: CompiledPolicy) => (state >> BigInt(open.indexOf(one))) & 1n
    const some = policies.flatMap((one) => (active.has(one) ? (isActive(one) ? [active.get(one)!] : []) : [one]))
    const found = answers.get(state) ?? JSON.stringify(answer(some))
    answers.set(state, found)
    return found
  }
  let changing = 0n
  for (const first of states)
    for (const second of states) {
      const isBetween = (one: bigint) => ((one ^ first) & (one ^ second)) === 0n && one !== first && one !== second
      if (answerIn(first) === answerIn(second) || states.some(isBetween)) continue
      const smallest: bigint[] = []
      for (const set of subsetsOf(first ^ second)) {
        if (smallest.some((one) => (one & set) === one)) continue
        if (answers.size > MOST_ANSWERS) return named(open)
        if (answerIn(second ^ set) === answerIn(first)) smallest.push(set)
      }
      for (const set of smallest) changing |= set
    }
  return named(open.filter((_, index) => (changing >> BigInt(index)) & 1n))
}

/** Those that are active at times alone, from the moment of a request on, and can take part in its decision then. */
export function timedTakingPart(
  policies: readonly CompiledPolicy[],
  request: PolicyContext,
): readonly CompiledPolicy[] {
  const timed = policies.filter(({ policy: { time } }) => time && whenActive(time, request.now) === 'sometimes')
  return timed.length === 0 ? [] : takingPart(timed, request).taking
}

/** The states in which policies are together at some moment from a start on. */
function statesOf(open: readonly CompiledPolicy[], { values, active }: Instants, start: bigint): readonly bigint[] {
  const states = active.flatMap((now, moment) => {
    if (values[moment]! < start) return []
    return open.reduce((bits, { policy: { time } }, at) => bits | (BigInt(now.has(time!)) << BigInt(at)), 0n)
  })
  return [...new Set(states)]
}

/** The sets in a set of bits, the smaller ones first, and last the whole. */
function* subsetsOf(bits: bigint): Generator<bigint> {
  const each: bigint[] = []
  for (let bit = 1n; bit <= bits; bit <<= 1n) if (bits & bit) each.push(bit)
  for (let size = 1; size <= each.length; size++) yield* chosen(0, size)

  function* chosen(from: number, size: number): Generator<bigint> {
    if (size === 0) yield 0n
    for (let index = from; size > 0 && index <= each.length - size; index++)
      for (const rest of chosen(index + 1, size - 1)) yield each[index]! | rest
  }
}

function alwaysActive({ policy, condition, consensus, isIncluded, outcomes }: CompiledPolicy): CompiledPolicy {
  return { policy, time: undefined, condition, consensus, isIncluded, outcomes }
}
