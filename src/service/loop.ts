import type { Lease } from './store/index.ts'

/** Something that is done again and again while the service runs. */
export interface Loop {
  /** Begins the next turn now, or right after the one that is under way. */
  wake(): void
  /** Finishes the turn that is under way, and begins no other. */
  close(): Promise<void>
}

/**
 * Runs a turn, waits as long as it says, runs the next.
 * @param turn returns milliseconds, or `Infinity` to wait until it is woken
 * @param lease what another process may hold: then no turn is run here
 */
export function startLoop(turn: () => Promise<number>, lease: Pick<Lease, 'run' | 'lookAgainMs'>): Loop {
  let closed = false
  let woken = Promise.withResolvers<void>()
  const running = (async () => {
    while (!closed) {
      woken = Promise.withResolvers<void>()
      const wanted = await lease.run(turn)
      const pauseMs = wanted === 'elsewhere' ? lease.lookAgainMs : Math.min(wanted, lease.lookAgainMs)
      if (closed) return
      const timer = pauseMs === Infinity ? undefined : setTimeout(woken.resolve, pauseMs)
      await woken.promise
      clearTimeout(timer)
    }
  })()
  return {
    wake: () => woken.resolve(),
    async close() {
      closed = true
      woken.resolve()
      await running
    },
  }
}
