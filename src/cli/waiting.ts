/**
 * Nothing waits in silence: what is tried, and what was answered, is said at least every ten seconds, of requests of this
 * process (`createWaitLogger`) and of work that it follows (`createPatience`).
 */
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { type Logger, silentLogger } from '../telemetry/index.ts'
import { parseDuration } from './durations.ts'
import type { Io } from './io.ts'
import { line } from './screen.ts'

/** The longest that nothing is said. */
const SILENCE_MS = 10_000
/** How often it is looked whether that is over. */
const LOOK_MS = 1_000

/** A logger for clients: says each read that is tried again and why, and every ten seconds which request has no answer. */
export function createWaitLogger({ say }: Pick<Io, 'say'>, baseUrl: string): Logger {
  /** When each request went out that has no answer, by its path; the oldest of those of one path. */
  const open = new Map<string, { count: number; since: number }>()
  let timer: NodeJS.Timeout | undefined
  const tell = () => {
    const [[path, { since }] = ['', { since: 0 }]] = [...open].sort(([, a], [, b]) => a.since - b.since)
    const seconds = Math.round((performance.now() - since) / 1000)
    say(line`Waiting: ${baseUrl} has not answered ${nameOf(path)} for ${seconds} s\n`)
  }
  return {
    ...silentLogger,
    debug(message, { path: given } = {}) {
      const path = String(given)
      const before = open.get(path)
      if (message === 'asking') {
        open.set(path, before ? { ...before, count: before.count + 1 } : { count: 1, since: performance.now() })
        timer ??= setInterval(tell, SILENCE_MS).unref()
      }
      if (message !== 'asked' || before === undefined) return
      if (before.count > 1) open.set(path, { ...before, count: before.count - 1 })
      else open.delete(path)
      if (open.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
    warn(message, { path, attempt, of, said, waitMs } = {}) {
      if (message !== 'reading again') return
      const seconds = (Number(waitMs) / 1000).toFixed(1)
      say(
        line`Waiting: ${nameOf(String(path))}, try ${Number(attempt)} of ${Number(of)}: ${String(said)}; again in ${seconds} s\n`,
      )
    },
  }
}

/** `/public/v1/query/get_user` is `get_user`. */
function nameOf(path: string): string {
  return path.split('/').at(-1) ?? path
}

/** How `--wait` stands in the rows of commands that follow something. */
export interface Patience {
  /** Called at each look, with what is still open in a few words; `hasNews` says that something was just shown. Throws `cli/still-runs`. */
  readonly look: (open: () => string, hasNews?: boolean) => void
  /** Says what is still open also while no look has an answer, for as long as the work takes. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
}

/** Follows with a limit (`--wait`), and where nobody watches a terminal says every ten seconds what is waited for. */
export function createPatience(
  { io, options }: { readonly io: Pick<Io, 'say' | 'live'>; readonly options: Readonly<Record<string, unknown>> },
  { what, next }: { readonly what: string; readonly next: string },
): Patience {
  const limitMs = typeof options['wait'] === 'string' ? parseDuration(options['wait'], '--wait') : undefined
  const startedAt = performance.now()
  let saidAt = startedAt
  let newsAt = startedAt
  let lastOpen = () => 'Temporal has not answered yet'
  const say = (now: number) => {
    if (io.live || now - saidAt < SILENCE_MS) return
    saidAt = now
    io.say(line`Nothing new for ${Math.round((now - newsAt) / 1000)} s: ${lastOpen()}\n`)
  }
  return {
    async during(work) {
      saidAt = newsAt = performance.now()
      const timer = setInterval(() => say(performance.now()), LOOK_MS).unref()
      try {
        return await work()
      } finally {
        clearInterval(timer)
      }
    },
    look(open, hasNews = false) {
      lastOpen = open
      const now = performance.now()
      if (hasNews) saidAt = newsAt = now
      if (limitMs !== undefined && now - startedAt >= limitMs) {
        throw new QuorateError(
          'cli/still-runs',
          `${what} has not ended within ${options['wait']}, and goes on by itself`,
          {
            exit: EXIT.waiting,
            facts: { open: open() },
            next,
          },
        )
      }
      say(now)
    },
  }
}
