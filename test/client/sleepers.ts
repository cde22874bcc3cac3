import type { Timing } from '../../src/client/index.ts'

/** A clock that goes on to the next sleeper when everybody sleeps. */
export function createSleepers() {
  let now = 0
  const sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const timing: Timing = {
    now: () => now,
    sleep: (ms) => new Promise((wake) => sleepers.push({ at: now + ms, wake })),
    random: () => 0.5,
  }
  /** Whatever does not wait for time has gone on as far as it can. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  const run = async <T>(work: Promise<T>): Promise<T> => {
    let over = false
    const end = () => {
      over = true
    }
    work.then(end, end)
    for (;;) {
      await settle()
      if (over) return work
      sleepers.sort((one, other) => one.at - other.at)
      const next = sleepers.shift()
      if (!next) throw new Error('everybody waits for something else than time')
      now = next.at
      next.wake()
    }
  }
  return { timing, run }
}
