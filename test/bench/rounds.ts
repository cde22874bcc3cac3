import { performance } from 'node:perf_hooks'

/** One of the things that are compared, doing its work once. */
export interface Contender {
  readonly name: string
  readonly once: () => unknown
}

export interface Rate {
  readonly name: string
  /** Per second of this process's CPU time: what others do on the machine does not count. */
  readonly perCpuSecond: number
}

const ROUNDS = 15
const ROUND_MS = 120

/**
 * Measures contenders in turns, so that a machine that slows down slows all of them, and takes each one's median.
 * A first round warms up and is not counted.
 */
export async function compare(contenders: readonly Contender[]): Promise<readonly Rate[]> {
  const rates = contenders.map((): number[] => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, { once }] of contenders.entries()) {
      const rate = await measure(once)
      if (round > 0) rates[i]!.push(rate)
    }
  }
  return contenders.map(({ name }, i) => ({ name, perCpuSecond: median(rates[i]!) }))
}

/** Runs for a while and gives the times per second of CPU time. */
async function measure(once: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  const end = performance.now() + ROUND_MS
  let times = 0
  while (performance.now() < end) {
    // A clock read for each run would be part of what is measured.
    for (let i = 0; i < 20; i++) {
      const pending = once()
      if (pending instanceof Promise) await pending
    }
    times += 20
  }
  const { user, system } = process.cpuUsage(before)
  return times / ((user + system) / 1e6)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
