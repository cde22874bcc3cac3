/** Moments that the times of policies tell apart. */
import { authorize, compilePolicy } from './authorize.ts'
import { readsOf } from './reads.ts'

const MILLISECOND = 1_000_000n
const LAST = BigInt(Date.parse('9999-12-31T23:59:59Z')) * MILLISECOND

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

/** Moments that are written in times, in nanoseconds since the epoch, and whether windows are too. */
export function momentsIn(times: readonly string[]): {
  readonly written: readonly bigint[]
  readonly isWindows: boolean
} {
  const trees = times.map((time) => compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time }).time?.tree)
  const literals = [...readsOf(...trees).literals]
  const written = literals.flatMap((text) => {
    const at = /^[0-9]{4}-.*Z$/.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(at) ? [] : [BigInt(at) * MILLISECOND]
  })
  return { written, isWindows: literals.length > written.length }
}
