import type { WorkflowHandle } from '@temporalio/client'
import { createLook, type Followed } from './run-end.ts'

/** How often a running workflow is asked how it stands. */
const ASK_EVERY_MS = 250

/** Waits until a workflow is asked again. */
export const untilAskedAgain = () => new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))

/**
 * Follows a workflow until `isEnough` says so; what follows only looks, so that ending it (Ctrl-C, a closed terminal) changes
 * nothing. Throws `cli/run-ended` where somebody has ended the workflow at Temporal.
 */
export async function followRun<T>(
  handle: Pick<WorkflowHandle, 'describe' | 'workflowId'>,
  followed: Followed,
  {
    ask,
    show,
    isEnough,
    recover,
  }: {
    readonly ask: () => Promise<T>
    /** Called with each answer and the one before it. */
    readonly show: (progress: T, before: T | undefined) => void | Promise<void>
    readonly isEnough: (progress: T) => boolean | Promise<boolean>
    /** Called with an error of asking; it throws unless asking goes on. @default every error ends it */
    readonly recover?: (error: unknown) => Promise<void>
  },
): Promise<T> {
  let before: T | undefined
  const look = createLook(handle, followed, ask)
  for (;;) {
    let progress: T | undefined
    try {
      progress = await look()
    } catch (error) {
      if (!recover) throw error
      await recover(error)
    }
    if (progress !== undefined) {
      await show(progress, before)
      if (await isEnough(progress)) return progress
      before = progress
    }
    await untilAskedAgain()
  }
}
