/**
 * Nothing waits in silence: what is tried, and what was answered, is said at least every ten seconds, of requests of this
 * process (`createWaitLogger`) and of work that it follows (`createPatience`).
 */
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { type Logger, silentLogger } from '../telemetry/index.ts'
import { parseDuration } from './durations.ts'
import type { Io } from './io.ts'
import { line, overLine } from './screen.ts'

/** The longest that nothing is said. */
const SILENCE_MS = 10_000
/** A pause that is no longer is the pace of many requests, of which nothing is said. */
const SHORT_MS = 2_000
/** How often it is looked whether that is over. */
const LOOK_MS = 1_000
/** So long after a look Temporal is asked whether it answers at all, and so long that may take: a busy one answers late. */
const QUIET_MS = 5_000
const PROBE_MS = 3_000

/** A logger for clients: says each read that is tried again and why, and every ten seconds which request has no answer. */
export function createWaitLogger({ say }: Pick<Io, 'say'>, baseUrl: string): Logger {
  /** When each request went out that has no answer, by its path; the oldest of those of one path. */
  const open = new Map<string, { count: number; since: number }>()
  /** What waits before it is sent, by its path, and why. */
  const held = new Map<string, Held>()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    timer ??= setInterval(tell, SILENCE_MS).unref()
  }
  const tell = () => {
    const now = performance.now()
    for (const [path, { until }] of held) if (until <= now) held.delete(path)
    if (open.size > 0) {
      const [[path, { since }] = ['', { since: 0 }]] = [...open].sort(([, a], [, b]) => a.since - b.since)
      say(line`Waiting: ${baseUrl} has not answered ${nameOf(path)} for ${inSeconds(now - since)}\n`)
    }
    const [first] = [...held].sort(([, a], [, b]) => a.since - b.since)
    if (first) {
      const [path, { since, until, why }] = first
      const more = held.size > 1 ? ` and ${held.size - 1} more` : ''
      say(
        line`Waiting: ${nameOf(path)}${more}, for ${inSeconds(now - since)} and ${inSeconds(until - now)} more: ${why}\n`,
      )
    }
    rest()
  }
  const rest = () => {
    if (open.size + held.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  /** Whether it is news that a path waits for so long. */
  const hold = (path: string, waitMs: number, why: string): boolean => {
    const since = performance.now()
    const before = held.get(path)
    if (before && before.until >= since + waitMs - LOOK_MS) return false
    held.set(path, { since, until: since + waitMs, why })
    look()
    return true
  }
  return {
    ...silentLogger,
    debug(message, { path: given } = {}) {
      const path = String(given)
      const before = open.get(path)
      if (message === 'asking') {
        held.delete(path)
        open.set(path, before ? { ...before, count: before.count + 1 } : { count: 1, since: performance.now() })
        look()
      }
      if (message !== 'asked' || before === undefined) return
      if (before.count > 1) open.set(path, { ...before, count: before.count - 1 })
      else open.delete(path)
      rest()
    },
    warn(message, { path: given, attempt, of, said, waitMs: pause, status, retryAfterMs, leftMs } = {}) {
      const path = String(given)
      const waitMs = Number(pause)
      if (message === 'held back') {
        const why = `${baseUrl} has asked for a pause`
        if (waitMs > SHORT_MS && hold(path, waitMs, why))
          say(line`Waiting: ${nameOf(path)}, for ${inSeconds(waitMs)}: ${why}\n`)
      }
      if (message !== 'reading again') return
      const isAsked = leftMs !== undefined
      const answer = isAsked ? `answered ${String(status)}, Retry-After ${inSeconds(Number(retryAfterMs))}` : undefined
      const isNews = hold(path, waitMs, answer ?? String(said))
      const seconds = (waitMs / 1000).toFixed(1)
      if (!isAsked)
        say(
          line`Waiting: ${nameOf(path)}, try ${Number(attempt)} of ${Number(of)}: ${String(said)}; again in ${seconds} s\n`,
        )
      else if (isNews)
        say(
          line`Waiting: ${nameOf(path)}, ${answer!}: ${String(said)}; again in ${seconds} s, and no longer than ${inSeconds(Number(leftMs))} in all\n`,
        )
    },
  }
}

/** What waits, since when, until when, and why. */
interface Held {
  readonly since: number
  readonly until: number
  readonly why: string
}

const inSeconds = (ms: number) => `${Math.max(0, Math.round(ms / 1000))} s`

/** `/public/v1/query/get_user` is `get_user`. */
function nameOf(path: string): string {
  return path.split('/').at(-1) ?? path
}

/** Whether Temporal answers within so long. */
export type TemporalAnswers = (withinMs: number) => Promise<boolean>

/** How `--wait` stands in the rows of commands that follow something. */
export interface Patience {
  /** Called at each look, with what is still open in a few words; `hasNews` says that something was just shown. Throws `cli/still-runs`. */
  readonly look: (open: () => string, hasNews?: boolean) => void
  /** Asks Temporal whether it answers while no look comes, so that one that is away is told of long before calls to it give up. */
  readonly asking: (answers: TemporalAnswers) => void
  /** Whether something was said on a terminal since this was last asked: what is drawn there is drawn anew. */
  readonly hasSpoken: () => boolean
  /** Says what is still open also while no look has an answer, for as long as the work takes. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
}

/** What goes on with work that nobody follows: the background process of the data folder, or a worker at a Temporal server that is named. */
export type Carrier = 'background' | 'worker'

const CARRIERS: Readonly<Record<Carrier, string>> = {
  background: 'the background process of this machine',
  worker: 'a worker of its Temporal server (`quorate worker`)',
}

/** Follows with a limit (`--wait`), and where nobody watches a terminal says every ten seconds what is waited for. */
export function createPatience(
  { io, options }: { readonly io: Pick<Io, 'say' | 'live'>; readonly options: Readonly<Record<string, unknown>> },
  {
    what,
    next,
    carrier = 'background',
  }: {
    readonly what: string
    readonly next: string | (() => string)
    /** What goes on with it after this command. @default the background process */
    readonly carrier?: Carrier
  },
): Patience {
  const limitMs = typeof options['wait'] === 'string' ? parseDuration(options['wait'], '--wait') : undefined
  const startedAt = performance.now()
  let saidAt = startedAt
  let newsAt = startedAt
  let lastOpen = () => 'Temporal has not answered yet'
  let answeredAt = startedAt
  let awayAt: number | undefined
  let isProbing = false
  let spoken = false
  let answers: TemporalAnswers | undefined
  const tell = (text: string) => {
    spoken = true
    io.say(io.live ? `${overLine}${text}` : text)
  }
  const answered = (now: number) => {
    if (awayAt !== undefined) tell(line`Temporal answers again, after ${Math.round((now - answeredAt) / 1000)} s.\n`)
    answeredAt = now
    awayAt = undefined
  }
  /** Says at once, and every ten seconds, that Temporal does not answer. */
  const probe = async (now: number): Promise<void> => {
    if (answers === undefined || isProbing || now - answeredAt < QUIET_MS) return
    isProbing = true
    const before = answeredAt
    const isThere = await answers(PROBE_MS)
    isProbing = false
    const then = performance.now()
    if (isThere) return answered(then)
    // A look has come meanwhile, or the work is over.
    if (answeredAt !== before || answers === undefined) return
    if (awayAt !== undefined && then - awayAt < SILENCE_MS) return
    awayAt = saidAt = then
    tell(line`Temporal does not answer, for ${Math.round((then - before) / 1000)} s now; last known: ${lastOpen()}\n`)
  }
  const say = (now: number) => {
    if (io.live || awayAt !== undefined || now - saidAt < SILENCE_MS) return
    saidAt = now
    io.say(line`Nothing new for ${Math.round((now - newsAt) / 1000)} s: ${lastOpen()}\n`)
  }
  return {
    asking(given) {
      answers = given
      answeredAt = performance.now()
    },
    hasSpoken() {
      const was = spoken
      spoken = false
      return was
    },
    async during(work) {
      saidAt = newsAt = performance.now()
      const timer = setInterval(() => {
        const now = performance.now()
        say(now)
        void probe(now)
      }, LOOK_MS).unref()
      try {
        return await work()
      } finally {
        clearInterval(timer)
        answers = undefined
      }
    },
    look(open, hasNews = false) {
      lastOpen = open
      const now = performance.now()
      answered(now)
      if (hasNews) saidAt = newsAt = now
      if (limitMs !== undefined && now - startedAt >= limitMs) {
        throw new QuorateError(
          'cli/still-runs',
          `${what} has not ended within ${options['wait']}; ${CARRIERS[carrier]} goes on with it`,
          {
            exit: EXIT.waiting,
            facts: { open: open() },
            next: typeof next === 'string' ? next : next(),
          },
        )
      }
      say(now)
    },
  }
}
