import { apiError, LIVENESS } from '../../protocol/index.ts'

/**
 * Refuses a body that is too old or from the future. Judged when a body is first seen and never again: a known body is
 * answered at any age (docs/protocol/activities.md#liveness). Both ends of the window are inside it.
 */
export function checkLiveness(timestampMs: string, now: number): void {
  const age = now - Number(timestampMs)
  if (age > LIVENESS.pastMs || age < -LIVENESS.futureMs) throw apiError('invalidTime')
}
