import { ClientError } from './error.ts'
import { systemTiming, type Timing } from './timing.ts'
import { lateness, type Turns } from './turns.ts'

/** Lets the requests to one organization through at a bounded rate, whichever of a process's clients they come from. */
export interface Rate {
  /**
   * Resolves when the next request may go, in the order in which they were asked for. Before a wait that a refusal has asked
   * for, `hold` is called with its length; what it throws is thrown here.
   * @param hold @default throws `client/rate-limited` where the wait is longer than a minute
   * @param prepare What has to be done before the request can go, such as its stamp. Called soon before its turn: as many requests as go
   * in half a second are prepared at once or wait prepared, and none while the API wants no requests, or long before its turn where
   * refusals have slowed the rate. Who is ready does not wait for who
   * is not. What it throws is thrown here. One that is cancelled ends at once, wherever in the line; before, it is not prepared.
   * @default nothing
   */
  take(signal?: AbortSignal, hold?: (ms: number) => void, prepare?: () => Promise<void>): Promise<Turn>
  /**
   * The first half of `take`: resolves when what has to be done before a request can go may be done. Who has the place leaves it when the
   * request has gone or never will.
   */
  enter(signal: AbortSignal | undefined, hold: (ms: number) => void): Promise<PreparedPlace>
  /** The second half of `take`: resolves when the next request that is prepared may go. */
  turn(signal: AbortSignal | undefined, hold: (ms: number) => void): Promise<Turn>
}

/** A place among the requests that are prepared at once, or wait prepared. */
export interface PreparedPlace {
  /** What has to be done before the request can go is done: from here it waits for its turn alone. */
  ready(): void
  /** The next one has the place. A second time it does nothing. */
  leave(): void
}

/** One request's turn; its answer moves the rate. */
export interface Turn {
  /** It goes now, later than its turn came: the next is spaced from here, less what may be late. */
  goes(): void
  /** The API took it: the rate may rise again to what was configured. */
  taken(): void
  /**
   * The API said that it was too much (429): nothing goes for a while, then at half the rate, which rises again with time. Gives
   * the milliseconds between two requests after that.
   */
  refused(retryAfterMs?: number): number
}

export interface RateOptions {
  /**
   * Most requests a second. Published: 1, 3 or 60 by plan, 10 for a sub-organization
   * (docs/protocol/limits.md#requests-a-second).
   * @default no limit, until the API names one by refusing
   */
  readonly requestsPerSecond?: number | undefined
  /**
   * Shared with other processes that work for the same organization; only a rate with a limit takes them. Where they have different
   * limits, the lowest holds for all.
   * @default none
   */
  readonly turns?: Turns | undefined
  /** @default a clock that nobody can set, so that setting the machine's neither stops nor floods anything */
  readonly timing?: Timing
}

/**
 * Requests take longer to the API at one time than at another: a busy machine, a new connection. As many as the API takes in a second are
 * spread over so much more, so that one that comes late by less falls into no second that has its number already.
 */
const ON_THE_WAY_MS = 50

/** Most requests of a rate that are prepared at once, or wait prepared: a key management service may refuse more. */
const MOST_PREPARED = 16

/** How long before its turn a request is prepared, at most, where refusals have made the rate slower than it may be. */
const AHEAD_MS = 500

/** The pause after a refusal without `Retry-After`; doubled by each refusal that follows at once. */
const FIRST_PAUSE_MS = 500
/** A pause longer than this is an error that says so: the caller decides whether to wait. */
export const MOST_PAUSE_MS = 60_000
/** The slowest that refusals alone make it: one request in eight seconds. */
const MOST_SPACING_MS = 8_000
/** The spacing that the first refusal gives a rate without limit: twenty a second. */
const FIRST_SPACING_MS = 50
/** Closer than this, a rate that was without limit is so again. */
const NO_SPACING_MS = 5
/** How much of the distance between two requests is left after one that was taken: 23 of them undo a refusal. */
const RECOVERY = 0.97
/** How long half of that distance takes to go by itself, however few requests there are: from the slowest in two minutes. */
const HALF_LIFE_MS = 15_000

/** Not `performance`, for which Node.js loads ten modules. */
const steadyTiming: Timing = { ...systemTiming, now: () => Number(process.hrtime.bigint()) / 1e6 }

/**
 * Makes a token bucket of one token: requests are spaced evenly, so that no window of a second ever holds more than the
 * rate, where the API is; a rate between two whole numbers is kept as the lower one. Requests pass one turnstile, where
 * the first in line waits and looks again: a refusal holds back everybody who is waiting already. Refusals of requests
 * that went before the last lowering lower nothing again: they are the same news.
 */
export function createRate({ requestsPerSecond, turns, timing = steadyTiming }: RateOptions = {}): Rate {
  const leastSpacingMs = spacingOf(requestsPerSecond)
  let spacingMs = leastSpacingMs
  /** Up to when what time takes from the spacing is counted; no pause takes from it. */
  let spacedAt = timing.now()
  let lastAt = Number.NEGATIVE_INFINITY
  let wentAt = Number.NEGATIVE_INFINITY
  let heldUntil = Number.NEGATIVE_INFINITY
  let pauseMs = FIRST_PAUSE_MS
  let shares = turns !== undefined && leastSpacingMs > 0
  let sent = 0
  let sentWhenLowered = 0
  const inLine = createLine()
  const mostPrepared =
    requestsPerSecond === undefined
      ? MOST_PREPARED
      : Math.min(MOST_PREPARED, Math.max(2, Math.ceil(requestsPerSecond / 2)))
  const aheadMs = Math.max(AHEAD_MS, leastSpacingMs * mostPrepared)
  let places = 0
  /** Of those that have a place, how many have begun to be prepared. */
  let prepared = 0
  const unprepared: (() => void)[] = []

  const bounded = (ms: number) => (leastSpacingMs === 0 && ms < NO_SPACING_MS ? 0 : Math.max(leastSpacingMs, ms))
  const recover = () => {
    const now = timing.now()
    if (now <= spacedAt) return
    spacingMs = bounded(spacingMs * 0.5 ** ((now - spacedAt) / HALF_LIFE_MS))
    spacedAt = now
  }

  const pass = async (signal: AbortSignal | undefined, hold: (ms: number) => void): Promise<Turn> => {
    for (;;) {
      signal?.throwIfAborted()
      const now = timing.now()
      if (heldUntil > now) hold(heldUntil - now)
      recover()
      // A shared turn is itself one spacing after the one before.
      const apartMs = shares ? spacingMs - leastSpacingMs : spacingMs
      const waitMs = Math.max(lastAt + apartMs, wentAt + spacingMs - lateness(spacingMs), heldUntil) - now
      if (waitMs > 0) await timing.sleep(waitMs, signal)
      else if (!shares || (await turns!.next(leastSpacingMs, signal))) break
      else shares = false
    }
    lastAt = timing.now()
    return createTurn(++sent)
  }

  const createTurn = (number: number): Turn => ({
    goes() {
      wentAt = timing.now()
    },
    taken() {
      if (number <= sentWhenLowered) return
      pauseMs = FIRST_PAUSE_MS
      spacingMs = bounded(spacingMs * RECOVERY)
    },
    refused(retryAfterMs) {
      const isNews = number > sentWhenLowered
      heldUntil = Math.max(heldUntil, timing.now() + (retryAfterMs ?? (isNews ? pauseMs : 0)))
      if (!isNews) return spacingMs
      recover()
      sentWhenLowered = sent
      pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)
      const slower = Math.min(MOST_SPACING_MS, Math.max(FIRST_SPACING_MS, spacingMs * 2))
      spacingMs = Math.max(leastSpacingMs, slower)
      spacedAt = heldUntil
      return spacingMs
    },
  })

  /** Waits for a place among those that are prepared. */
  const place = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        unprepared.splice(unprepared.indexOf(enter), 1)
        reject(signal!.reason)
      }
      signal?.throwIfAborted()
      signal?.addEventListener('abort', leave)
      unprepared.push(enter)
    })

  /**
   * Waits for as long as the API wants no requests, or will want none for long: a request that is prepared meanwhile would be old, and a
   * command that stops would have to count it as under way.
   */
  const soon = async (signal: AbortSignal | undefined, hold: (ms: number) => void) => {
    for (;;) {
      signal?.throwIfAborted()
      const now = timing.now()
      if (heldUntil > now) hold(heldUntil - now)
      recover()
      const waitMs = Math.max(heldUntil, lastAt + spacingMs * (prepared + 1) - aheadMs) - now
      if (waitMs <= 0) break
      await timing.sleep(waitMs, signal)
    }
    prepared++
  }

  /** The next one has the place of the one that leaves. */
  const free = () => {
    const next = unprepared.shift()
    if (next) next()
    else places--
  }

  const enter = async (signal: AbortSignal | undefined, hold: (ms: number) => void): Promise<PreparedPlace> => {
    if (places < mostPrepared) places++
    else await place(signal)
    await soon(signal, hold).catch((error: unknown) => {
      free()
      throw error
    })
    let isLeft = false
    const leave = () => {
      if (isLeft) return
      isLeft = true
      prepared--
      free()
    }
    return { ready() {}, leave }
  }

  return rateOfHalves({
    enter,
    turn: (signal, hold) =>
      unlessAborted(
        inLine(() => pass(signal, hold)),
        signal,
      ),
  })
}

/** Makes a rate of the two halves of its `take`. */
export function rateOfHalves({ enter, turn }: Pick<Rate, 'enter' | 'turn'>): Rate {
  return {
    enter,
    turn,
    async take(signal, hold = assertShort, prepare) {
      if (!prepare) return turn(signal, hold)
      const place = await enter(signal, hold)
      try {
        await unlessAborted(prepare(), signal)
        place.ready()
        return await turn(signal, hold)
      } finally {
        place.leave()
      }
    },
  }
}

/** Makes a line: each work begins once the one before it has ended, whether it gave something or threw. */
export function createLine(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/** Gives what comes of some work, or throws the reason of a signal as soon as it is aborted; the work goes on unheard. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  let end = () => {}
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', end))
}

/**
 * Milliseconds from one request to the next at so many a second; 0 without a limit. In whole microseconds, rounded up: three times a
 * third of a second is a little less than one.
 */
export function spacingOf(requestsPerSecond: number | undefined): number {
  if (requestsPerSecond === undefined) return 0
  const secondUs = (1000 + ON_THE_WAY_MS) * 1000
  return (
    Math.ceil(Math.max(1_000_000 / requestsPerSecond, secondUs / Math.max(1, Math.floor(requestsPerSecond)))) / 1000
  )
}

/** Throws `client/rate-limited` where a wait is longer than is worth sitting through. */
export function assertShort(ms: number): void {
  if (ms > MOST_PAUSE_MS) throw heldBack(ms)
}

/** What the API has asked for, of a request that was not sent because of it. */
export function heldBack(ms: number): ClientError {
  const seconds = Math.ceil(ms / 1000)
  return new ClientError('client/rate-limited', `the API asks for no request in the next ${seconds} s`, {
    submitted: 'no',
    retryAfterMs: ms,
    facts: { 'wait in seconds': seconds },
  })
}
