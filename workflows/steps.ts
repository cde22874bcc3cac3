import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  isCancellation,
  patched,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../activities/create.ts'
import type { Failure } from '../activities/model.ts'

/**
 * How each step is run: always as an ordinary Temporal activity, whose input and result are in the history. A local one would cost a
 * quarter, but is recorded only when its workflow task ends: after a crash it runs again with a *newer* workflow clock, and several at
 * once beside ordinary ones replay in another order than they ran.
 */
export const steps = proxyActivities<Activities>(stepsWithin('10m'))

/**
 * The same for what reads a whole fleet: 5 requests for each sub-organization, which for 1,000 of them is 84 minutes at one a
 * second, and longer where others share the rate.
 */
export const longSteps = proxyActivities<Activities>(stepsWithin('6h'))

function stepsWithin(startToCloseTimeout: '10m' | '6h') {
  return {
    startToCloseTimeout,
    // The worker sends a heartbeat for every running step, so that a killed worker is noticed in seconds.
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '5s', maximumAttempts: 3 },
  } as const
}

/** How many bodies may grow too old one after the other; more mean that the clocks of worker and Temporal disagree. */
export const MOST_STALE = 3
/** How long to wait before a vote that did not count is cast again. */
export const VOTE_AGAIN_MS = 60 * 60 * 1000

/** The most events of a history on a server that never suggests `continueAsNew`. Temporal's suggests it at 4,096, and ends a run at 51,200. */
const MOST_EVENTS = 8_192

/** Whether the run should go on as a new one: the server suggests it, or the history has more than `MOST_EVENTS`. */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo()
  return continueAsNewSuggested || (historyLength > MOST_EVENTS && patched('bounded-history'))
}

/** The part of a run's state that its waits depend on. */
export interface Waiter {
  /** Whether the run is stopping: no step may be begun. */
  readonly stopping: boolean
  /** How many signals of news have come; a wait compares it with the number at its beginning. */
  readonly news: number
}

/** Thrown out of a wait when the run stops. The records up to then are enough to go on later. */
export class AtRest extends Error {}

const FIRST_WAIT_MS = 1_000
const MOST_WAIT_MS = 60_000

/**
 * Runs a step until it succeeds or fails for good. Temporal tries a few times; after a failure that may pass, this shows the reason, waits
 * and tries again, without a deadline. A failure that cannot pass is thrown.
 */
export async function persist<T>(
  run: Waiter,
  show: (error: Failure | undefined) => void,
  step: () => Promise<T>,
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS * 2; ; waitMs = Math.min(waitMs * 2, MOST_WAIT_MS)) {
    try {
      const result = await step()
      show(undefined)
      return result
    } catch (error) {
      if (!mayPass(error)) throw error
      show(toFailure(error))
    }
    await rest(run, waitMs)
  }
}

/** Waits for a time or for news; throws `AtRest` when the run stops. */
export async function rest(run: Waiter, ms: number): Promise<'news' | 'time'> {
  if (run.stopping) throw new AtRest()
  const seen = run.news
  const woken = await condition(() => run.news !== seen || run.stopping, ms)
  if (run.stopping) throw new AtRest()
  return woken ? 'news' : 'time'
}

/** Waits between polls: one second, doubling to one minute, from the start again after news. */
export function createPace(run: Waiter): () => Promise<void> {
  let waitMs = FIRST_WAIT_MS
  return async () => {
    const woken = await rest(run, waitMs)
    waitMs = woken === 'news' ? FIRST_WAIT_MS : Math.min(waitMs * 2, MOST_WAIT_MS)
  }
}

function mayPass(error: unknown): boolean {
  if (isCancellation(error)) return false
  const cause = causeOf(error)
  return cause instanceof ApplicationFailure ? !cause.nonRetryable : error instanceof ActivityFailure
}

/** Takes the step's own failure out of the one that Temporal wraps around it. */
function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure ? error.cause : error
}

/** Reads the code, message and advice out of the failure of a step. */
export function toFailure(error: unknown): Failure {
  const cause = causeOf(error)
  if (!(cause instanceof ApplicationFailure)) {
    return { code: 'apply/timed-out', message: 'a step took too long or its worker went away' }
  }
  const detail = cause.details?.[0] as { readonly next?: string; readonly field?: string } | undefined
  return {
    code: cause.type ?? 'apply/unexpected',
    message: cause.message,
    ...(detail?.next === undefined ? {} : { next: detail.next }),
    ...(detail?.field === undefined ? {} : { field: detail.field }),
  }
}
