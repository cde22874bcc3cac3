import type { RandomBytes } from '../../crypto/index.ts'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** Unstated: how long after each attempt that failed the next one comes (docs/protocol/webhooks.md#retries). */
const PAUSES_MS = [10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR]

/** How far a pause may differ, so that what failed together does not come back together. */
const JITTER = 0.2

/** How long to wait after so many attempts have failed; undefined when there is no further one. */
export function pauseAfter(attempts: number, randomBytes: RandomBytes): number | undefined {
  const pause = PAUSES_MS[attempts - 1]
  if (pause === undefined) return undefined
  const share = Buffer.from(randomBytes(4)).readUInt32LE() / 2 ** 32
  return Math.round(pause * (1 - JITTER + 2 * JITTER * share))
}
