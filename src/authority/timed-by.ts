/** Which policies may make an answer another at another time: by day nobody else may be needed, and at night somebody. */
import { type CompiledPolicy, type PolicyContext, takingPart, whenActive } from '../policy/index.ts'

/** Of so many times that open or close each combination is tried; of more, that the answer hangs on each is taken to be so. */
const MOST_TIMES = 4

/**
 * Finds the names of the policies whose times, as they open or close after the moment of the request, may change an answer about it.
 * Times are combined freely, also where two of them never are active at once.
 * @param answer gives it, as JSON, by policies.
 */
export function timedBy(
  policies: readonly CompiledPolicy[],
  request: PolicyContext,
  answer: (policies: readonly CompiledPolicy[]) => unknown,
): readonly string[] {
  const timed = policies.filter(
    ({ policy: { time } }) => time !== undefined && time !== '' && whenActive(time, request.now) === 'sometimes',
  )
  if (timed.length === 0) return []
  const active = new Map(timed.map((one) => [one, alwaysActive(one)]))
  const taking = new Set(takingPart([...active.values()], request).taking)
  const open = timed.filter((one) => taking.has(active.get(one)!))
  const times = [...new Set(open.map(({ policy: { time } }) => time))]
  const named = (some: typeof times) =>
    [...new Set(open.filter(({ policy: { time } }) => some.includes(time)).map(({ policy: { name } }) => name))].sort()
  if (times.length > MOST_TIMES) return named(times)
  const answers = Array.from({ length: 2 ** times.length }, (_, now) => {
    const isActive = (time: (typeof times)[number]) => (now >> times.indexOf(time)) & 1
    const some = policies.flatMap((one) =>
      active.has(one) ? (isActive(one.policy.time) ? [active.get(one)!] : []) : [one],
    )
    return JSON.stringify(answer(some))
  })
  return named(times.filter((_, at) => answers.some((one, now) => one !== answers[now ^ (1 << at)])))
}

function alwaysActive({ policy, condition, consensus, isIncluded, outcomes }: CompiledPolicy): CompiledPolicy {
  return { policy, time: undefined, condition, consensus, isIncluded, outcomes }
}
