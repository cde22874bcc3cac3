/** Moments that the times of policies tell apart. */
import { momentsIn, type PolicyText, timeReader } from '../policy/index.ts'

const MINUTE = 60_000_000_000n
const HOUR = 60n * MINUTE

export interface Instants {
  /** Nanoseconds since the epoch; the first is the moment that was given. */
  readonly values: readonly bigint[]
  /** Whether no other moment is told apart from all of these. */
  readonly isComplete: boolean
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
