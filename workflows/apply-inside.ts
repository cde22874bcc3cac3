/**
 * Begins the applies of an organization's sub-organizations, a few at a time: each is an `apply` of its own, whose id is the lock of its
 * sub-organization. The apply of a sub-organization that exists begins when the organization's own apply has come to rest; that of one
 * which the plan creates, when it exists. An apply that fails or waits stops no other. This workflow knows names and counts; what is
 * applied is in the plan store, and each step checks there that it may.
 *
 * Its applies tell it how they stand. An apply that somebody ended at Temporal tells nothing, so it also looks by itself once in a while.
 */
import {
  CancellationScope,
  ContinueAsNew,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { InsideProgress } from '../activities/model.ts'
import type { ApplyInput, ApplyInsideInput } from './inputs.ts'
import { InsideRun } from './inside-run.ts'
import { applyNews, cancel, insideProgress, nudge } from './messages.ts'
import { applyId } from './names.ts'
import { createShow, standOf } from './shown.ts'
import { startDetached } from './start-detached.ts'
import { AtRest, isHistoryLong, persist, steps, toFailure } from './steps.ts'

/** How often it looks by itself, in case an apply was ended at Temporal and tells nothing. */
const UNTOLD_MS = 60 * 60 * 1000

export async function applyInside(input: ApplyInsideInput): Promise<InsideProgress> {
  const run = new InsideRun(input)
  setHandler(insideProgress, () => run.progress())
  setHandler(applyNews, (news) => run.hear(news))
  setHandler(nudge, () => run.nudge())
  setHandler(cancel, () => run.cancel())
  // Temporal's own cancellation means the same as the signal: no more applies are begun, and those that run go on.
  CancellationScope.current().cancelRequested.catch(() => run.cancel())

  return CancellationScope.nonCancellable(async () => {
    const { organizationId, planDigest: carriesOut, shownBy } = input
    const stand = () => {
      const { state } = run.progress()
      return standOf(state === 'over' ? 'done' : state, undefined)
    }
    const shown = createShow({ organizationId, carriesOut, shownBy }, stand)
    void shown.changes()
    try {
      if (!input.carried) {
        const outline = await persist(run, run.explain, () => steps.loadInside({ organizationId, ...run.token }))
        if (outline.ended) {
          run.endAs(outline.ended)
          return run.progress()
        }
        run.begin(outline)
      }
      await walk(run, input)
    } catch (error) {
      if (error instanceof ContinueAsNew) throw error
      if (!(error instanceof AtRest)) run.fail(toFailure(error))
    }
    await steps.endInside({ ...run.token, progress: run.progress() }).catch(() => {})
    shown.now()
    return run.progress()
  })
}

/** Begins applies as they become ready, until all have come to rest for good. */
async function walk(run: InsideRun, input: ApplyInsideInput): Promise<void> {
  for (;;) {
    const seen = run.news
    run.leaveLost()
    for (const index of run.startable()) {
      run.enter(index)
      void open(run, input, index).finally(() => run.leave(index))
    }
    if (run.idle && (run.cancelled || run.finished)) return
    if (isHistoryLong()) run.tooLong = true
    if (run.tooLong && run.idle) await continueAsNew<typeof applyInside>({ ...input, carried: run.carry() })
    const isTold = await condition(() => run.news !== seen, UNTOLD_MS)
    if (isTold) continue
    for (const news of await persist(run, run.explain, () => steps.lookInside(run.token))) run.hear(news)
  }
}

/** Lets one apply in and begins it. If another apply has the lock of the sub-organization, it is left to that one. */
async function open(run: InsideRun, { shownBy }: ApplyInsideInput, index: number): Promise<void> {
  const step = { ...run.token, index }
  const show = run.explain
  try {
    const opened = await persist(run, show, () => steps.openInside(step))
    const { organizationId, planDigest } = opened
    run.change(index, { organizationId, planDigest })
    const input: ApplyInput = { ...opened, tells: workflowInfo().workflowId, ...(shownBy ? { shownBy } : {}) }
    if (await startDetached('apply', { workflowId: applyId(organizationId), input })) {
      run.began(index)
      await persist(run, show, () => steps.keepInside(step))
    } else {
      run.change(index, { state: 'elsewhere' })
      await persist(run, show, () => steps.dropInside(step))
    }
  } catch (error) {
    if (!(error instanceof AtRest)) run.change(index, { state: 'failed', error: toFailure(error) })
  }
}
