/** The process that serves for the benches of worst bodies and of sealing anew: it starts on a folder and says how busy its main thread was. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createService, type Service } from '../../src/service/index.ts'

export type Ask = { readonly serve: string } | { readonly measure: true } | { readonly end: true }

/** Of the main thread since it was last asked, in milliseconds of CPU time: what others do on the machine does not count. */
export interface Busy {
  /** The longest that it computed without answering anybody. */
  readonly held: number
  readonly all: number
  /** How late the loop was, in milliseconds by the clock. */
  readonly delays: { readonly p50: number; readonly p99: number; readonly longest: number }
}

let service: Service | undefined
let held = 0
let all = 0
let since = process.threadCpuUsage()

/** Each millisecond, and as soon as the thread is free again where it was not. */
function look(): void {
  const { user, system } = process.threadCpuUsage(since)
  since = process.threadCpuUsage()
  const ms = (user + system) / 1_000
  all += ms
  held = Math.max(held, ms)
}
setInterval(look, 1)

const RESOLUTION_MS = 1
const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
loop.enable()

function readDelays(): Busy['delays'] {
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
  const delays = { p50: late(loop.percentile(50)), p99: late(loop.percentile(99)), longest: late(loop.max) }
  loop.reset()
  return delays
}

process.on('message', async (ask: Ask) => {
  if ('measure' in ask) {
    look()
    process.send!({ held, all, delays: readDelays() } satisfies Busy)
    held = 0
    all = 0
    return
  }
  await service?.close()
  if ('end' in ask) process.exit()
  service = await createService({ dataDir: ask.serve })
  process.send!(service.url)
})
