/** Moments that the times of policies tell apart. */
import { authorize, compilePolicy } from './authorize.ts'
import type { PolicyText } from './model.ts'
import { readsOf } from './reads.ts'

const MILLISECOND = 1_000_000n
const MINUTE = 60_000n * MILLISECOND
const HOUR = 60n * MINUTE
const LAST = BigInt(Date.parse('9999-12-31T23:59:59Z')) * MILLISECOND

export interface Instants {
  /** Nanoseconds since the epoch; the first is the moment that was given. */
  readonly values: readonly bigint[]
  /** Whether no other moment is told apart from all of these. */
  readonly isComplete: boolean
}

/** Whether a time is active at a moment; it errs at none of those that exist. */
export function timeReader(time: string): (now: bigint) => 'true' | 'false' | 'error' {
  const compiled = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time })
  return (now) => {
    const { outcome } = authorize([compiled], { now, activity: { type: '' }, approvers: [] }).policies[0]!
    return outcome === 'OUTCOME_ALLOW' ? 'true' : outcome === 'OUTCOME_ERROR' ? 'error' : 'false'
  }
}

/** Whether a time is active from a moment on: at each, at none, or at some, which is also said where windows come again. */
export function whenActive(time: string, start: bigint): 'always' | 'never' | 'sometimes' {
  const { written, isWindows } = momentsIn([time])
  if (isWindows) return 'sometimes'
  const read = timeReader(time)
  const later = [...written.flatMap((at) => [at - MILLISECOND, at, at + MILLISECOND]), LAST].filter((at) => at > start)
  const found = new Set([start, ...later].map(read))
  return !found.has('true') ? 'never' : found.size === 1 ? 'always' : 'sometimes'
}

/** Moments that are written in times, and whether windows are too. */
function momentsIn(times: readonly string[]): { readonly written: readonly bigint[]; readonly isWindows: boolean } {
  const trees = times.map((time) => compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time }).time?.tree)
  const literals = [...readsOf(...trees).literals]
  const written = literals.flatMap((text) => {
    const at = /^[0-9]{4}-.*Z$/.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(at) ? [] : [BigInt(at) * MILLISECOND]
  })
  return { written, isWindows: literals.length > written.length }
}

/**
 * Finds moments for every combination of times that are active at once: at the instants that are written and beside them, each quarter of
 * an hour of the week that follows, and four times a day of the year that follows.
 */
export function instantsOf(policies: readonly PolicyText[], start: bigint): Instants {
  const times = [...new Set(policies.flatMap(({ time }) => (time ? [time] : [])))]
  if (times.length === 0) return { values: [start], isComplete: true }
  const { written, isWindows } = momentsIn(times)
  const near = written.flatMap((at) => [at, at - 1n, at + 1n])
  const week = Array.from({ length: 7 * 96 }, (_, index) => start + BigInt(index) * 15n * MINUTE)
  const year = Array.from(
    { length: 4 * 366 },
    (_, index) => start + BigInt(index) * 6n * HOUR + (BigInt(index) % 4n) * HOUR,
  )
  const readers = times.map(timeReader)
  const found = new Map<string, bigint>()
  for (const at of [start, ...near, ...(isWindows ? [...week, ...year] : [])]) {
    const key = readers.map((read) => read(at)).join(' ')
    if (!found.has(key)) found.set(key, at)
  }
  return { values: [...found.values()], isComplete: !isWindows || found.size === 2 ** times.length }
}
