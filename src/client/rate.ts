import type { Timing } from './timing.ts'

/** Lets requests through at a bounded rate. */
export interface Rate {
  /** Resolves when the next request may go. Callers are served in the order in which they asked. */
  take(signal?: AbortSignal): Promise<void>
  /** Lets nothing through for a while: the API said that it was too much. */
  pause(ms: number): void
}

/**
 * Makes a token bucket of one token: requests are spaced evenly, so that no window of a second ever holds more than
 * `requestsPerSecond` (stories.md S2; facts: protocol §11). Without a rate only `pause` holds anything back.
 */
export function createRate(requestsPerSecond: number | undefined, timing: Timing): Rate {
  const spacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond
  let nextAt = 0
  return {
    async take(signal) {
      const now = timing.now()
      const at = Math.max(now, nextAt)
      nextAt = at + spacingMs
      if (at > now) await timing.sleep(at - now, signal)
    },
    pause(ms) {
      nextAt = Math.max(nextAt, timing.now() + ms)
    },
  }
}
