/**
 * Feeds the policy language and the readers of transactions with inputs that nobody wrote. Nothing may be thrown but
 * refusals, no input may take long, and memory may not grow with their number.
 */
import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { soaks } from './soaks.ts'

/** CPU time of this thread. No input is longer than some hundred bytes; what takes this long hangs on longer ones. */
const MOST_MS_AN_INPUT = 1_000
/** What a run may keep, once it is warm; the collector is asked to run before each look. */
const MOST_GROWTH_MB = 96
const BATCH = 5_000
/** What is between two inputs too, the collecting and the generating, takes time on a busy machine. */
const HANGS_MS = 30_000

/** Takes so many inputs; says the seed first, so that what fails can be run again. Throws at the first that is wrong. */
export async function soakInputs({ count, seed }: { readonly count: number; readonly seed: number }): Promise<void> {
  console.log(`seed ${seed}, ${count.toLocaleString('en-US')} inputs`)

  const taken = new Int32Array(new SharedArrayBuffer(4))
  const watchdog = new Worker(new URL('watchdog.ts', import.meta.url), { workerData: { taken, mostMs: HANGS_MS } })

  let warm: number | undefined
  let most = 0
  let slowest = { ms: 0, input: '' }
  const start = performance.now()
  for (let done = 0, batch = 0; done < count; batch++) {
    for (const { name, share, input, take } of soaks) {
      const runs = Math.min(Math.ceil(BATCH * share), count - done)
      if (runs === 0) continue
      fc.assert(
        fc.property(input as fc.Arbitrary<unknown>, (given) => {
          Atomics.add(taken, 0, 1)
          const before = process.threadCpuUsage()
          ;(take as (given: unknown) => void)(given)
          const { user, system } = process.threadCpuUsage(before)
          const ms = (user + system) / 1000
          if (ms > slowest.ms) slowest = { ms, input: `${name}: ${fc.stringify(given)}` }
          if (ms > MOST_MS_AN_INPUT) throw new RangeError(`it took ${ms.toFixed(0)} ms, over ${MOST_MS_AN_INPUT}`)
        }),
        // Another seed for every batch, all from the one that was said.
        { seed: (seed + batch) | 0, numRuns: runs },
      )
      done += runs
    }
    globalThis.gc?.()
    const now = process.memoryUsage.rss() / 2 ** 20
    most = Math.max(most, now)
    // The first batches fill caches and compile what is hot.
    if (batch === 3) warm = now
    const growth = now - (warm ?? now)
    if (batch % 20 === 0) console.log(`${done.toLocaleString('en-US')} inputs, ${now.toFixed(0)} MB`)
    if (growth > MOST_GROWTH_MB) throw new RangeError(`memory grew by ${growth.toFixed(0)} MB, over ${MOST_GROWTH_MB}`)
  }
  const seconds = (performance.now() - start) / 1000
  console.log(
    `no crash and no hang in ${count.toLocaleString('en-US')} inputs, ${seconds.toFixed(0)} s; memory ${most.toFixed(0)} MB at most, ` +
      `grown by ${Math.max(0, most - (warm ?? most)).toFixed(0)} MB; the slowest took ${slowest.ms.toFixed(1)} ms`,
  )
  await watchdog.terminate()
}
