import type { Io } from '../io.ts'
import { overLine } from '../screen.ts'

/** How often a person is told how far reading has come, and how often a log. */
const LIVE_MS = 1_000
const LOG_MS = 10_000

/**
 * Says how much has been read while reading takes long: on a terminal in one line that is written over each second,
 * elsewhere as a line each ten seconds, and never one an object. Ends when the function that it gives is called.
 */
export function showReading({ say, live }: Pick<Io, 'say' | 'live'>, requests: () => number): () => void {
  let shown = false
  const show = () => {
    shown = true
    const sent = requests()
    const words = `Reading: ${sent} ${sent === 1 ? 'request' : 'requests'} so far`
    say(live ? `${overLine}${words}` : `${words}\n`)
  }
  const timer = setInterval(show, live ? LIVE_MS : LOG_MS)
  return () => {
    clearInterval(timer)
    if (live && shown) say(overLine)
  }
}
