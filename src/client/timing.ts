import { setTimeout as delay } from 'node:timers/promises'

/** The clock, waiting and chance, as arguments. */
export interface Timing {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Rejects with the signal's reason when it is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 up to, not including, 1. */
  readonly random: () => number
}

/** The machine's own clock and chance. */
export const systemTiming: Timing = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal ? { signal } : {})
  },
  random: () => Math.random(),
}
