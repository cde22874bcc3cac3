/**
 * Applies a plan. The workflow id `apply/<organization>` is the lock: one apply for an organization at a time. Each sub-organization is
 * applied by a workflow of its own; `applyInside` begins those. This workflow begins `applyInside`, and tells it how it stands.
 *
 * It decides nothing: the plan says what is done, and each step checks by itself that it may. A batch's body is made once and stored,
 * from a time that is in this history before the body is made. Every retry, after any crash, sends the same bytes, which the API answers
 * with the same activity. Waiting for people is a normal state and has no deadline.
 */
import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow'
import type { ApplyProgress, Failure } from '../activities/model.ts'
import { ApplyRun } from './apply-run.ts'
import type { ApplyInput, ApplyInsideInput } from './inputs.ts'
import { applyNews, cancel, hasLooked, insideWorkflow, nudge, progress } from './messages.ts'
import { createShow, standOfApply } from './shown.ts'
import { startDetached } from './start-detached.ts'
import { AtRest, createPace, isHistoryLong, MOST_STALE, persist, steps, toFailure, VOTE_AGAIN_MS } from './steps.ts'

export async function apply(input: ApplyInput): Promise<ApplyProgress> {
  const run = new ApplyRun(input, new Date().toISOString())
  setHandler(progress, () => run.told())
  setHandler(insideWorkflow, () => (input.inside ? input.tells! : null))
  setHandler(hasLooked, () => run.hasLooked())
  setHandler(nudge, () => run.nudge())
  setHandler(cancel, () => run.cancel())
  // Temporal's own cancellation means the same as the signal: stop beginning things, wait for the running step, return
  // the progress.
  CancellationScope.current().cancelRequested.catch(() => run.cancel())

  return CancellationScope.nonCancellable(async () => {
    const { organizationId, planDigest: carriesOut, shownBy, commit } = input
    const shown = createShow({ organizationId, carriesOut, shownBy, commit }, () => standOfApply(run.progress()))
    shown.now()
    const before = run.outline ? undefined : await begin(run, input)
    if (before) {
      shown.now()
      await createTeller(run, input)()
      return before
    }
    void shown.changes()
    if (!input.carried) await beginInside(input)
    void tellChanges(run, input)
    await walk(run)
    if (run.tooLong && !run.cancelled && !run.finished) {
      await continueAsNew<typeof apply>({ ...input, carried: run.carry() })
    }
    const outcome = await keepOutcome(run)
    shown.now()
    await createTeller(run, input)()
    return outcome
  })
}

/** Begins `applyInside`, which goes on when this workflow has ended. */
async function beginInside({ organizationId, planDigest, inside, tells, shownBy }: ApplyInput): Promise<void> {
  if (!inside || tells === undefined) return
  const input: ApplyInsideInput = { organizationId, planDigest, run: inside.run, ...(shownBy ? { shownBy } : {}) }
  await startDetached('applyInside', { workflowId: tells, input })
}

/** Makes a function that tells `applyInside` how the run stands, and which batches have made sub-organizations since the last call. */
function createTeller(run: ApplyRun, { tells, inside }: ApplyInput): () => Promise<void> {
  const told = new Set<number>()
  return async () => {
    if (tells === undefined) return
    const { planDigest, state, batches } = run.progress()
    const made = (inside?.makers ?? []).filter((index) => batches[index]?.state === 'completed' && !told.has(index))
    for (const index of made) told.add(index)
    await getExternalWorkflowHandle(tells)
      .signal(applyNews, { planDigest, state, made, hasDone: batches.some((one) => one.state === 'completed') })
      .catch(() => {})
  }
}

/** Tells `applyInside` each time that the run comes to rest, goes on, or has made a sub-organization; `apply` tells it of the end. */
async function tellChanges(run: ApplyRun, input: ApplyInput): Promise<void> {
  if (input.tells === undefined) return
  const tell = createTeller(run, input)
  const stand = () => run.standOf(input.inside?.makers ?? [])
  for (let before = ''; ; ) {
    await condition(() => stand() !== before)
    before = stand()
    await tell()
  }
}

/** Reads the plan and makes sure that it may still be applied; otherwise returns the result of the run. */
async function begin(run: ApplyRun, input: ApplyInput): Promise<ApplyProgress | undefined> {
  const show = (error: Failure | undefined) => run.explain(error)
  try {
    const outline = await persist(run, show, () =>
      steps.loadOutline({ organizationId: input.organizationId, ...run.token }),
    )
    if (outline.ended) {
      run.endAs(outline.ended)
      return run.progress()
    }
    const freshness = await persist(run, show, () => steps.checkPlanFresh(run.token))
    if (!freshness.fresh) {
      if ('earlier' in freshness) {
        // A plan that was carried out before may have sub-organizations left to apply.
        if (freshness.earlier.state !== 'cancelled') await beginInside(input)
        run.endAs(freshness.earlier)
      } else run.giveUp('stale', freshness.error)
      return run.progress()
    }
    await persist(run, show, () => steps.spendPlan(run.token))
    run.begin(outline)
    return undefined
  } catch (error) {
    if (!(error instanceof AtRest)) run.giveUp('failed', toFailure(error))
    return run.progress()
  }
}

/** Begins batches as they become ready, until nothing runs and nothing may begin. */
async function walk(run: ApplyRun): Promise<void> {
  for (;;) {
    for (const index of run.startable()) {
      run.enter(index)
      void carryOut(run, index).finally(() => run.leave(index))
    }
    if (run.idle && run.startable().length === 0) return
    await condition(() => run.idle || run.startable().length > 0)
  }
}

/** One batch: make body → submit → await consensus → record. */
async function carryOut(run: ApplyRun, index: number): Promise<void> {
  const record = run.record(index)
  try {
    if (record.activityId === undefined) await submit(run, index)
    await awaitEnd(run, index)
  } catch (error) {
    if (!(error instanceof AtRest)) run.fail(index, toFailure(error))
  }
}

async function submit(run: ApplyRun, index: number): Promise<void> {
  const record = run.record(index)
  const step = { ...run.token, batch: index }
  const show = showOn(run, index)
  for (let stale = 0; record.activityId === undefined; ) {
    if (!record.prepared) {
      // This workflow's clock: the value is in the history before the body is made, and a replay makes the same body.
      const timestampMs = Date.now()
      const prepared = await persist(run, show, () => steps.prepareRequest({ ...step, timestampMs }))
      if (prepared.kind === 'found') return run.take(index, prepared.activity)
      record.prepared = true
      record.fingerprint = prepared.fingerprint
    }
    if (run.stopping) throw new AtRest()
    record.state = 'submitting'
    try {
      run.take(index, await persist(run, show, () => steps.submitRequest(step)))
    } catch (error) {
      if (toFailure(error).code !== 'apply/body-stale' || ++stale > MOST_STALE) throw error
      // The next round looks for an equal intent before it makes a new body.
      delete record.prepared
    }
  }
}

/** Polls until the activity is final; casts the acting user's vote when it is missing or has lapsed. */
async function awaitEnd(run: ApplyRun, index: number): Promise<void> {
  const record = run.record(index)
  const step = { ...run.token, batch: index }
  const pace = createPace(run)
  while (record.state === 'waiting' || record.state === 'submitting') {
    run.tooLong ||= isHistoryLong()
    if (record.needsVote && Date.now() - (record.votedAtMs ?? 0) > VOTE_AGAIN_MS) await vote(run, index)
    else {
      await pace()
      const { news } = run
      run.take(index, await persist(run, showOn(run, index), () => steps.pollActivity(step)))
      run.looked(index, news)
    }
  }
}

/** A vote that is refused does not end the wait: others may still decide. */
async function vote(run: ApplyRun, index: number): Promise<void> {
  const record = run.record(index)
  const timestampMs = Date.now()
  record.votedAtMs = timestampMs
  run.voting(index)
  const vote = { ...run.token, batch: index, timestampMs }
  try {
    run.take(index, await persist(run, showOn(run, index), () => steps.castVote(vote)))
  } catch (error) {
    if (error instanceof AtRest) throw error
    record.error = toFailure(error)
  } finally {
    run.voted(index)
  }
}

/** Records the result for a later apply of the plan, and ends the run. The apply does not depend on it. */
async function keepOutcome(run: ApplyRun): Promise<ApplyProgress> {
  const outcome = run.progress()
  const isOfBefore = run.token.run === ''
  if (!isOfBefore || outcome.batches.some(({ activityId }) => activityId !== undefined)) {
    await steps.recordOutcome({ run: run.token.run, outcome }).catch(() => {})
  }
  return outcome
}

/** Shows on a batch what its next try waits for. */
function showOn(run: ApplyRun, index: number): (error: Failure | undefined) => void {
  return (error) => {
    const record = run.record(index)
    if (error) record.error = error
    else delete record.error
  }
}
