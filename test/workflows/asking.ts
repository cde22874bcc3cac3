import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { isGrpcServiceError } from '@temporalio/client'

const FIRST_MS = 25
const LATER_MS = 400

/** gRPC: FAILED_PRECONDITION. */
const FAILED_PRECONDITION = 9
/** Longer than a workflow task that was not done in time waits for its next try, after several of them. */
const DONE_WITHIN_MS = 60_000
/** Before the test itself is over, which tells nothing of what was answered. */
const GIVE_UP_MS = 540_000

/**
 * Asks a workflow until the answer is as wanted, ever less often: where none is cached, each question is a replay. A machine that is
 * busy does not do each workflow task in time, and until the next try the server answers no question: that is asked again for a minute.
 * An answer that never comes is told with the last one.
 */
export async function askUntil<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  let refusedSince: number | undefined
  const since = Date.now()
  for (let afterMs = FIRST_MS; ; afterMs = Math.min(afterMs * 1.5, LATER_MS)) {
    try {
      const answer = await ask()
      if (wanted(answer)) return answer
      if (Date.now() - since > GIVE_UP_MS)
        throw new Error(`asked for nine minutes, and the answer is still ${inspect(answer, { depth: 4 })}`)
      refusedSince = undefined
    } catch (error) {
      refusedSince ??= Date.now()
      if (!isBetweenTries(error) || Date.now() - refusedSince > DONE_WITHIN_MS) throw error
    }
    await delay(afterMs)
  }
}

function isBetweenTries(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  return (
    isGrpcServiceError(cause) &&
    cause.code === FAILED_PRECONDITION &&
    /Workflow Task in failed state/.test(cause.details)
  )
}
