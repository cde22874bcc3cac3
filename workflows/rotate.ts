/**
 * Rotates an API key: create → verify → hand over → overlap → delete → prove. The workflow id `rotate/<organization>/<user>` is
 * the lock. It decides only when the next step is asked for; each step checks by itself that it may. If verifying or handing over fails, the
 * new key is deleted again (`undo`); if deleting or proving fails, it is in use and stays, and the end is `partial`. The user has a key that
 * works at every moment. Waiting for people has no deadline.
 */
import { CancellationScope, ContinueAsNew, continueAsNew, setHandler } from '@temporalio/workflow'
import type { ActivityState, Failure, ShownBy } from '../activities/model.ts'
import type { RotationPart, RotationProgress } from '../activities/rotation-model.ts'
import type { RotationOutline } from '../activities/rotations.ts'
import { nudge, rotationProgress } from './messages.ts'
import { createShow, standOf } from './shown.ts'
import {
  createPace,
  isHistoryLong,
  MOST_STALE,
  persist,
  rest,
  steps,
  toFailure,
  VOTE_AGAIN_MS,
  type Waiter,
} from './steps.ts'

export interface RotateInput {
  readonly organizationId: string
  readonly rotationId: string
  /** @default nowhere */
  readonly shownBy?: ShownBy
  /** Only from an earlier run of the same rotation. */
  readonly carried?: Carried
}

interface Carried {
  readonly outline: RotationOutline
  readonly progress: RotationProgress
  /** Activities that completed. */
  readonly completed: readonly RotationPart[]
  /** Why the new key is deleted again. */
  readonly undoing?: Failure
}

type Columns = { -readonly [Name in keyof RotationProgress]?: RotationProgress[Name] | undefined }

export async function rotate(input: RotateInput): Promise<RotationProgress> {
  const run = new RotateRun(input)
  setHandler(rotationProgress, () => run.progress)
  setHandler(nudge, () => run.nudge())
  // Cancellation is ignored: a rotation that stopped halfway would leave two keys.
  return CancellationScope.nonCancellable(async () => {
    const { organizationId, rotationId: carriesOut, shownBy } = input
    const stand = () => {
      const { state, waiting } = run.progress
      const isOver = state === 'done' || state === 'failed' || state === 'partial'
      return standOf(waiting ? 'waiting' : isOver ? state : 'running', waiting?.activityId)
    }
    const shown = createShow({ organizationId, carriesOut, shownBy }, stand)
    void shown.changes()
    const end = await carryOut(run)
    shown.now()
    return end
  })
}

async function carryOut(run: RotateRun): Promise<RotationProgress> {
  try {
    if (!run.outline) await begin(run)
    if (run.outline?.ended) return run.outline.ended
    if (!run.undoing) await attempt(run)
    if (run.undoing) await undo(run, run.undoing)
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    const hasNew = run.completed.has('create')
    run.change({ state: hasNew ? 'partial' : 'failed', error: failureOf(error), waiting: undefined })
  }
  const progress = run.progress
  // A forged rotation is refused in this step too, and has no progress to record.
  await persist(
    run,
    () => {},
    () => steps.recordRotation({ progress }),
  ).catch(() => {})
  return progress
}

async function begin(run: RotateRun): Promise<void> {
  const { organizationId, rotationId } = run.input
  run.begin(await persist(run, run.explain, () => steps.loadRotation({ organizationId, rotationId })))
  if (run.outline!.drops && !run.outline!.ended) run.change({ state: 'dropping' })
}

/** Every step up to the proof. A failure to verify or hand over the new key is kept in `undoing`; any other is thrown. */
async function attempt(run: RotateRun): Promise<void> {
  const { rotationId } = run.input
  const { drops, overlapMs } = run.outline!
  if (drops) await act(run, 'drop', 'dropping')
  if (!run.completed.has('create')) {
    const { publicKey } = await persist(run, run.explain, () => steps.makeRotationKey({ rotationId }))
    run.change({ new: { id: '', publicKey } })
    await act(run, 'create', 'creating')
    run.change({ createdAt: now() })
  }
  try {
    if (run.progress.verifiedAt === undefined) {
      run.change({ state: 'verifying' })
      await keep(run)
      const { id } = await persist(run, run.explain, () => steps.verifyRotation({ rotationId }))
      run.change({ new: { ...run.progress.new!, id }, verifiedAt: now() })
    }
    if (run.progress.handedAt === undefined) {
      run.change({ state: 'handing over' })
      const { handedAtMs } = await persist(run, run.explain, () => steps.handOverKey({ rotationId }))
      const times = { handedAt: toIso(handedAtMs), deletesAt: toIso(handedAtMs + overlapMs) }
      run.change({ state: 'overlap', ...times })
    }
  } catch (error) {
    run.undoing = toFailure(error)
    return
  }
  await overlap(run)
  await act(run, 'delete', 'deleting')
  run.change({ state: 'proving', deletedAt: run.progress.deletedAt ?? now() })
  const { proof } = await persist(run, run.explain, () => steps.proveRotation({ rotationId }))
  run.change({ state: 'done', proof, provedAt: now() })
}

/** The overlap: a durable timer during which both keys work. */
async function overlap(run: RotateRun): Promise<void> {
  const deletesAt = Date.parse(run.progress.deletesAt!)
  if (run.progress.state === 'overlap') await keep(run)
  for (let left = deletesAt - Date.now(); left > 0; left = deletesAt - Date.now()) await rest(run, left)
}

/** Deletes the new key again. If that fails too, both keys stay, and the result says so. */
async function undo(run: RotateRun, because: Failure): Promise<void> {
  try {
    await act(run, 'undo', 'undoing')
    run.change({ state: 'failed', error: because })
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    const { message } = failureOf(error)
    const both = `${because.message}; the new key could not be taken away: ${message}`
    run.change({ state: 'partial', waiting: undefined, error: { ...because, message: both } })
  }
}

/** One activity: prepare → submit → await. Throws unless it completes. */
async function act(run: RotateRun, part: RotationPart, state: RotationProgress['state']): Promise<void> {
  if (run.completed.has(part)) return
  run.change({ state })
  await keep(run)
  let activity = await submit(run, part)
  const pace = createPace(run)
  for (let votedAtMs = 0; activity.state === 'waiting' || activity.state === 'submitting'; ) {
    run.take(part, activity)
    await keep(run)
    if (isHistoryLong()) await continueAsNew<typeof rotate>(run.carry())
    const { rotationId } = run.input
    if (activity.needsVote && Date.now() - votedAtMs > VOTE_AGAIN_MS) {
      votedAtMs = Date.now()
      const vote = { rotationId, part, timestampMs: votedAtMs }
      activity = await persist(run, run.explain, () => steps.voteForRotation(vote)).catch((error: unknown) => {
        // A refused vote does not end the wait: others may still decide.
        run.explain(toFailure(error))
        return { ...activity, needsVote: false }
      })
    } else {
      await pace()
      activity = await persist(run, run.explain, () => steps.pollRotation({ rotationId, part }))
    }
  }
  run.take(part, activity)
  if (activity.state !== 'completed') throw new PartFailed(activity.error!)
  run.completed.add(part)
}

async function submit(run: RotateRun, part: RotationPart): Promise<ActivityState> {
  const step = { rotationId: run.input.rotationId, part }
  for (let stale = 0; ; stale++) {
    // This workflow's clock: the value is in the history before the body is made, and a replay makes the same body.
    const timestampMs = Date.now()
    const prepared = await persist(run, run.explain, () => steps.prepareRotation({ ...step, timestampMs }))
    if (prepared.kind === 'found') return prepared.activity
    try {
      return await persist(run, run.explain, () => steps.submitRotation(step))
    } catch (error) {
      if (toFailure(error).code !== 'apply/body-stale' || stale === MOST_STALE) throw error
    }
  }
}

/** An activity failed or was rejected. */
class PartFailed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

function failureOf(error: unknown): Failure {
  return error instanceof PartFailed ? error.failure : toFailure(error)
}

class RotateRun implements Waiter {
  readonly input: RotateInput
  readonly stopping = false
  news = 0
  outline: RotationOutline | undefined
  progress: RotationProgress
  readonly completed: Set<RotationPart>
  undoing: Failure | undefined
  /** The progress that was recorded last, as text. */
  kept = ''

  constructor(input: RotateInput) {
    this.input = input
    this.outline = input.carried?.outline
    this.completed = new Set(input.carried?.completed)
    this.undoing = input.carried?.undoing
    this.progress = input.carried?.progress ?? {
      rotationId: input.rotationId,
      user: '',
      key: '',
      state: 'creating',
      old: { id: '', publicKey: '' },
      activities: {},
      startedAt: now(),
    }
  }

  begin(outline: RotationOutline): void {
    this.outline = outline
    const { user, key, old, ended } = outline
    this.progress = ended ?? { ...this.progress, user, key, old }
  }

  nudge(): void {
    this.news++
  }

  /** Changes columns of the record; undefined removes one. */
  change(columns: Columns): void {
    const next = Object.entries({ ...this.progress, ...columns }).filter(([, value]) => value !== undefined)
    this.progress = Object.fromEntries(next) as unknown as RotationProgress
  }

  /** Shows what the next try waits for. */
  readonly explain = (error: Failure | undefined): void => this.change({ error })

  take(part: RotationPart, { state, activityId, fingerprint, since, approved }: ActivityState): void {
    const waiting = state === 'waiting' ? { part, activityId, fingerprint, since, approved } : undefined
    this.change({ waiting, activities: { ...this.progress.activities, [part]: activityId } })
  }

  carry(): RotateInput {
    const { outline, progress, completed, undoing } = this
    const carried = { outline: outline!, progress, completed: [...completed], ...(undoing ? { undoing } : {}) }
    return { ...this.input, carried }
  }
}

/** Records a changed progress, for commands that read it without Temporal. The rotation does not depend on it. */
async function keep(run: RotateRun): Promise<void> {
  const { progress } = run
  const text = JSON.stringify(progress)
  if (run.kept === text) return
  run.kept = text
  await steps.recordRotation({ progress }).catch(() => {})
}

function now(): string {
  return toIso(Date.now())
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
