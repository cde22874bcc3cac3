/**
 * What a long run has started, and when all of it ends: at the end of the run, when its time is up, and when whoever waits for
 * it gives up. A run that went on after its test would keep the test's process from ending.
 */
import { setTimeout as delay } from 'node:timers/promises'

/** What does not close in this time is left. */
const CLOSING_MS = 15_000

export interface Stage {
  /** Aborts when the run has to end. */
  readonly signal: AbortSignal
  /** How it stands, in words, for when its time is up. */
  standing: string
  /** Closes it when the run ends, what was added last first; at once, where the run has ended. */
  atEnd(close: () => Promise<unknown>): void
  /** Waits, and throws as soon as the run has to end. */
  pause(ms: number): Promise<void>
  /** Carries out the run, and closes everything whatever comes of it. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export function openStage({ mostMs, signal }: { readonly mostMs: number; readonly signal?: AbortSignal }): Stage {
  const ending = new AbortController()
  const closers: (() => Promise<unknown>)[] = []
  let isOver = false
  const closed = (close: () => Promise<unknown>) =>
    Promise.race([Promise.resolve().then(close), delay(CLOSING_MS, undefined, { ref: false })])
  const stage: Stage = {
    signal: ending.signal,
    standing: 'nothing has begun',
    atEnd(close) {
      if (isOver) void closed(close).catch(() => {})
      else closers.push(close)
    },
    pause: (ms) => delay(ms, undefined, { signal: ending.signal }),
    async run(work) {
      const late = () => ending.abort(new Error(`the run was not over after ${mostMs} ms: ${stage.standing}`))
      const timer = setTimeout(late, mostMs)
      const given = () => ending.abort(signal?.reason)
      signal?.addEventListener('abort', given)
      const aborted = new Promise<never>((_, reject) => {
        ending.signal.addEventListener('abort', () => reject(ending.signal.reason))
      })
      try {
        return await Promise.race([work(), aborted])
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', given)
        isOver = true
        // What still runs of it meets this at its next pause.
        ending.abort(new Error('the run is over'))
        const outcomes = []
        for (const close of closers.splice(0).reverse()) outcomes.push(...(await Promise.allSettled([closed(close)])))
        for (const outcome of outcomes) if (outcome.status === 'rejected') console.error(outcome.reason)
      }
    },
  }
  return stage
}
