import type { WorkflowHandle } from '@temporalio/client'
import { QuorateError } from '../diagnostics/index.ts'
import { isNotFound } from './temporal-errors.ts'

/** The words for the message that a followed workflow was ended. */
export interface Followed {
  /** A noun with its article. */
  readonly what: string
  /** How to continue it. */
  readonly next: string
}

export const SEND: Followed = {
  what: 'the send',
  next: 'run the same `quorate send` again: it goes on with the same bytes, and a reference is paid once',
}
export const BATCH: Followed = {
  what: 'the batch',
  next: 'run the same command again: rows that were submitted are found, and each is paid once',
}
export const APPLY: Followed = {
  what: 'the apply',
  next: 'run `quorate apply` again, which submits nothing twice, or give it up for good with `quorate status --cancel`',
}

export const ROTATION: Followed = {
  what: 'the rotation',
  next: 'run the same `quorate rotate key` again, which continues it with the same new key, or give it up with `quorate status --cancel`',
}

type Handle = Pick<WorkflowHandle, 'describe' | 'workflowId'>

/** Ends that are not a workflow's own: it answers for ever what was true when it was ended. */
const words: Readonly<Record<string, string>> = {
  TERMINATED: 'terminated',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timed out',
  FAILED: 'failed before its first step',
}

/** How somebody ended a workflow at Temporal; undefined for one that runs, or came to its own end. */
export async function foreignEndOf(handle: Handle): Promise<string | undefined> {
  try {
    return words[(await handle.describe()).status.name]
  } catch (error) {
    if (isNotFound(error)) return 'deleted'
    throw error
  }
}

/** Looks that bring nothing new before it is asked whether anybody carries the workflow out. */
const QUIET_LOOKS = 8

/**
 * Looks at a workflow as `look` does, again and again. One that somebody ended at Temporal would be followed for ever: that is
 * `cli/run-ended`.
 */
export function createLook<T>(handle: Handle, followed: Followed, look: () => Promise<T>): () => Promise<T> {
  let before = ''
  let quiet = 0
  return async () => {
    const seen = await look().catch(async (error: unknown) => {
      if (error instanceof QuorateError && error.code === 'worker/payload-refused') throw error
      await assertGoesOn(handle, followed)
      throw error
    })
    const text = JSON.stringify(seen)
    quiet = text === before ? quiet + 1 : 0
    before = text
    if (quiet % QUIET_LOOKS === QUIET_LOOKS - 1) await assertGoesOn(handle, followed)
    return seen
  }
}

async function assertGoesOn(handle: Handle, { what, next }: Followed): Promise<void> {
  const end = await foreignEndOf(handle)
  if (end === undefined) return
  throw new QuorateError('cli/run-ended', `somebody ended ${what} at Temporal (${end}); nobody carries it out now`, {
    facts: { workflow: handle.workflowId, submitted: 'what was submitted is kept; nothing more by itself' },
    next,
  })
}
