import { listenToComputing } from '../../analysis/index.ts'
import type { Io } from '../io.ts'
import { line, overLine } from '../screen.ts'

/** How often a person is told what goes on, and how often a log. */
const LIVE_MS = 1_000
const LOG_MS = 10_000

/**
 * Says what goes on while it takes long, how much was read or what is computed: on a terminal in one line that is written over each
 * second, elsewhere as a line each ten seconds, and never one an object. Ends when the function that it gives is called.
 * @param requests how many were sent so far; absent where something else says how far reading is
 */
export function showReading({ say, live }: Pick<Io, 'say' | 'live'>, requests?: () => number): () => void {
  const pauseMs = live ? LIVE_MS : LOG_MS
  let saidAt = performance.now()
  let shown = false
  const show = (words: string) => {
    shown = true
    saidAt = performance.now()
    say(live ? `${overLine}${words}` : `${words}\n`)
  }
  const read = (sent: number) => show(line`Reading: ${sent} ${sent === 1 ? 'request' : 'requests'} so far`)
  const timer = requests && setInterval(() => read(requests()), pauseMs)
  // Computing holds the timer up.
  const stop = listenToComputing((what, sinceMs) => {
    const now = performance.now()
    if (now - saidAt >= pauseMs) show(line`Computing ${what}, for ${Math.round((now - sinceMs) / 1_000)} s`)
  })
  return () => {
    clearInterval(timer)
    stop()
    if (live && shown) say(overLine)
  }
}

/** Computes, and says what is computed while it takes long. */
export function showingComputing<T>(io: Pick<Io, 'say' | 'live'>, work: () => T): T {
  const stop = showReading(io)
  try {
    return work()
  } finally {
    stop()
  }
}
