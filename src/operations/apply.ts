import { join } from 'node:path'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { type ApplyProgress, createPlanStore, type InsideProgress, nameOfRun } from '../../activities/index.ts'
import type { ApplyInput, ApplyInsideInput, apply, applyInside } from '../../workflows/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { makersOf, type Plan, plansInside } from '../plan/index.ts'
import { isOver } from './apply-end.ts'
import { followRun, untilAskedAgain } from './follow.ts'
import { applyId, applyInsideId, taskQueueOf } from './names.ts'
import { APPLY } from './run-end.ts'
import { startShown } from './search-attributes.ts'
import { isAlreadyStarted, isNotFound, isServiceError } from './temporal-errors.ts'

export type ApplyHandle = WorkflowHandle<typeof apply>
export type InsideHandle = WorkflowHandle<typeof applyInside>

/** The client, queue and folder that are needed to start or find the apply of an organization. */
export interface ApplyPlace {
  readonly client: Client
  readonly organizationId: string
  readonly taskQueue: string
  readonly dataDir: string
}

/** How long a worker that has just come up may take until the server has seen it. */
const WORKER_SEEN_MS = 10_000

/**
 * Throws `cli/no-worker` when nobody polls the task queue within `seenMs` (10 s by default): what is started there would
 * neither move nor answer. A workflow that waits for a worker is not lost; it goes on when one comes up.
 */
export async function assertWorker(client: Client, taskQueue: string, seenMs = WORKER_SEEN_MS): Promise<void> {
  const until = Date.now() + seenMs
  for (;;) {
    if ((await workerSeenAt(client, taskQueue)) !== undefined) return
    if (Date.now() > until) throw noWorker(taskQueue)
    await untilAskedAgain()
  }
}

/** When a worker last asked for work of the task queue; undefined where none did in the last minutes. One asks every minute. */
export async function workerSeenAt(client: Client, taskQueue: string): Promise<number | undefined> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: 1, // TASK_QUEUE_TYPE_WORKFLOW
  })
  const seen = (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000)
  return seen.length === 0 ? undefined : Math.max(...seen)
}

function noWorker(taskQueue: string, cause?: unknown): QuorateError {
  return new QuorateError('cli/no-worker', `no worker polls the task queue \`${taskQueue}\``, {
    facts: { submitted: 'nothing by this command' },
    next: 'start one with `quorate worker`, or with `quorate up` where the embedded service is used, with the same settings, and run this again',
    cause,
  })
}

/** What was begun for a plan. */
export interface StartedApply {
  /** The organization's own apply; absent where nothing of its own changes. */
  readonly own?: ApplyHandle
  /** What begins the applies inside, and their plans; absent where nothing inside changes. */
  readonly inside?: { readonly handle: InsideHandle; readonly plans: readonly Plan[] }
}

/**
 * Starts applying a plan with what is inside, in one request, or joins the run that carries out the same definitions already: the
 * world has moved under it because of that very run. Throws `cli/apply-runs` when what runs was made from other definitions.
 */
export async function startApply(place: ApplyPlace, plan: Plan): Promise<StartedApply> {
  const { client, organizationId, taskQueue, dataDir } = place
  await assertWorker(client, taskQueue)
  await letGoOfRejected(client, plan)
  const planStore = createPlanStore(join(dataDir, 'plans'))
  await planStore.putPlan(plan)
  const plans = plansInside(plan)
  if (plan.batches.length === 0) return { inside: { handle: await startInside(place, plan), plans } }
  const run = await planStore.runs.open(plan.digest)
  const inside = plans.length === 0 ? undefined : await planStore.runs.openInside(plan.digest, run)
  const tells = inside === undefined ? undefined : applyInsideId(organizationId, nameOfRun(inside)!)
  const input: ApplyInput = {
    organizationId,
    planDigest: plan.digest,
    run,
    ...(plan.commit === undefined ? {} : { commit: plan.commit }),
    ...(inside === undefined ? {} : { inside: { run: inside, makers: makersOf(plan) }, tells: tells! }),
  }
  try {
    const marked = { organizationId, carriesOut: plan.digest, commit: plan.commit }
    const own = await startShown(client, marked, (shown) =>
      client.workflow.start<typeof apply>('apply', {
        workflowId: applyId(organizationId),
        taskQueue,
        args: [{ ...input, ...shown.input }],
        workflowIdConflictPolicy: 'FAIL',
        ...shown.options,
      }),
    )
    // This run holds the lock. One that was ended at Temporal cannot be started again with the old input.
    await planStore.endRuns(organizationId, { except: inside === undefined ? [run] : [run, inside] })
    if (tells === undefined) return { own }
    return { own, inside: { handle: client.workflow.getHandle<typeof applyInside>(tells), plans } }
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error
    await planStore.runs.end({ planDigest: plan.digest, run })
    if (inside !== undefined) await planStore.runs.end({ planDigest: plan.digest, run: inside })
    if (await hasClosed(place)) return startApply(place, plan)
    const own = await joinApply(place, plan)
    const joined = await findInside(place, own)
    if (joined) return { own, inside: joined }
    // Where that run found nothing to do inside, or nobody to do it as, what lives is begun now.
    return plans.length === 0
      ? { own }
      : { own, inside: { handle: await startInside(place, plan, { isOwnElsewhere: true }), plans } }
  }
}

/** How long an apply may take to hear of a rejection and end. */
const HEARS_WITHIN_MS = 30_000

/**
 * Tells applies that still wait for what was rejected, and that this plan asks for once more. One that has not heard of it yet
 * would be joined, and would end as rejected: nobody would be asked again.
 */
async function letGoOfRejected(client: Client, plan: Plan): Promise<void> {
  const until = Date.now() + HEARS_WITHIN_MS
  for (const { organization, askAgain = [] } of [plan, ...plansInside(plan)]) {
    const handle = client.workflow.getHandle<typeof apply>(applyId(organization.id))
    while (askAgain.length > 0 && Date.now() < until && (await isApplying(client, organization.id))) {
      const progress = await askProgress(handle)
      const waits = progress.batches.some(
        ({ state, activityId }) => state === 'waiting' && activityId !== undefined && askAgain.includes(activityId),
      )
      if (!waits && !isOver(progress)) break
      if (waits) await nudgeApply(handle)
      await untilAskedAgain()
    }
  }
}

/** How long an apply that is over may take to keep its outcome. */
const KEEPS_OUTCOME_MS = 30_000

/**
 * Whether the apply that held the lock has let go of it. One that says that it is over, which is what is waited for elsewhere,
 * keeps its outcome and then closes: that is waited for here.
 */
async function hasClosed({ client, organizationId }: ApplyPlace): Promise<boolean> {
  const handle = client.workflow.getHandle<typeof apply>(applyId(organizationId))
  if (!isOver(await askProgress(handle))) return false
  const until = Date.now() + KEEPS_OUTCOME_MS
  while ((await handle.describe()).status.name === 'RUNNING') {
    if (Date.now() > until) return false
    await untilAskedAgain()
  }
  return true
}

/** The apply that holds the lock, if it carries out the same definitions. Throws `cli/apply-runs`. */
export async function joinApply({ client, organizationId, dataDir }: ApplyPlace, plan: Plan): Promise<ApplyHandle> {
  const handle = client.workflow.getHandle<typeof apply>(applyId(organizationId))
  const running = await askProgress(handle)
  const store = createPlanStore(join(dataDir, 'plans'))
  const runningPlan = await store.getPlan(running.planDigest).catch(() => undefined)
  const facts = { since: running.startedAt, plan: running.planDigest, submitted: 'nothing of this plan' }
  if (runningPlan?.definitionsDigest === plan.definitionsDigest) {
    const known = new Set(askedAgain(runningPlan))
    if (askedAgain(plan).some((id) => !known.has(id))) {
      // It holds to the rejections that it met, whatever a later command disregards.
      throw new QuorateError('cli/apply-runs', 'the apply that runs was begun before, and asks nothing again', {
        facts,
        next: 'stop it with `quorate status --cancel` and give --ask-again once more: what waits goes on waiting, and is taken up again',
      })
    }
    // Whoever applies again has often just seen somebody approve.
    await askAnew(handle)
    return handle
  }
  throw new QuorateError('cli/apply-runs', 'another plan is being applied to this organization', {
    facts,
    next: 'follow it with `quorate status --follow`, or stop it with `quorate status --cancel` and apply again',
  })
}

/** The rejections that a plan disregards, inside too. */
function askedAgain(plan: Plan): readonly string[] {
  return [plan, ...plansInside(plan)].flatMap(({ askAgain = [] }) => askAgain)
}

/** Begins what is inside by itself: nothing of the organization's own changes, or another run does that. */
async function startInside(
  { client, organizationId, taskQueue, dataDir }: ApplyPlace,
  plan: Plan,
  { isOwnElsewhere = false }: { readonly isOwnElsewhere?: boolean } = {},
): Promise<InsideHandle> {
  const run = await createPlanStore(join(dataDir, 'plans')).runs.openInside(plan.digest)
  const input: ApplyInsideInput = {
    organizationId,
    planDigest: plan.digest,
    run,
    ...(isOwnElsewhere ? { isOwnElsewhere } : {}),
  }
  return startShown(client, { organizationId, carriesOut: plan.digest }, (shown) =>
    client.workflow.start<typeof applyInside>('applyInside', {
      workflowId: applyInsideId(organizationId, nameOfRun(run)!),
      taskQueue,
      args: [{ ...input, ...shown.input }],
      ...shown.options,
    }),
  )
}

/** What begins the applies inside for a running apply of the organization; undefined where nothing does. */
async function findInside({ client, dataDir }: ApplyPlace, own: ApplyHandle): Promise<StartedApply['inside']> {
  // A run of before does not know the question.
  const workflowId = await own.query<string | null>('inside').catch(() => null)
  if (workflowId === null) return undefined
  const store = createPlanStore(join(dataDir, 'plans'))
  const running = await store.getPlan((await askProgress(own)).planDigest)
  return { handle: client.workflow.getHandle<typeof applyInside>(workflowId), plans: await store.getInside(running) }
}

/** The apply of an organization, running or ended; undefined when there was none that Temporal still knows. */
export async function findApply({ client, organizationId, taskQueue }: ApplyPlace): Promise<ApplyHandle | undefined> {
  const handle = client.workflow.getHandle<typeof apply>(applyId(organizationId))
  try {
    await handle.describe()
    await assertWorker(client, taskQueue)
    return handle
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/**
 * Whether an apply of the organization runs, also one that waits for people.
 * @param inside instead, whether what begins the applies inside for the run of this name does
 */
export async function isApplying(client: Client, organizationId: string, inside?: string): Promise<boolean> {
  const workflowId = inside === undefined ? applyId(organizationId) : applyInsideId(organizationId, inside)
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING'
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** How the apply of the organization stands; undefined where none runs. */
export async function progressOfApply(client: Client, organizationId: string): Promise<ApplyProgress | undefined> {
  if (!(await isApplying(client, organizationId))) return undefined
  return ask(client.workflow.getHandle(applyId(organizationId)))
}

/** Asks where an apply stands. A worker that went away since it was last seen is `cli/no-worker`, as none is. */
export const askProgress = (handle: ApplyHandle): Promise<ApplyProgress> => ask(handle)

/** By then an apply that was told to ask the API has done so, unless the API is slow. */
const ASKED_MS = 3_000

/**
 * The same, of an apply that waits for people after it has asked the API once more: by itself it asks at most once a minute, and
 * would tell of a vote that late. A run of before, which does not say that it has asked, is given some seconds.
 */
export async function askAnew(handle: ApplyHandle, withinMs = ASKED_MS): Promise<ApplyProgress> {
  const before = await askProgress(handle)
  if (isOver(before) || !before.batches.some(({ state }) => state === 'waiting')) return before
  await nudgeApply(handle)
  for (const until = performance.now() + withinMs; ; ) {
    const hasLooked = await handle.query<boolean>('has-looked').catch(() => undefined)
    const progress = await askProgress(handle)
    // News may be that the run's own vote has lapsed, which it casts again: a run that says whether it has looked says when that is done.
    const isEnough = typeof hasLooked === 'boolean' ? hasLooked : JSON.stringify(progress) !== JSON.stringify(before)
    if (isEnough || isOver(progress) || performance.now() > until) return progress
    await untilAskedAgain()
  }
}

/**
 * The plan that a run carries out, whose batches its progress is about: one that was joined has another than it was joined with. One that
 * is kept nowhere foresees nothing.
 */
export async function planOfRun(
  { dataDir }: Pick<ApplyPlace, 'dataDir'>,
  plan: Plan,
  { planDigest }: Pick<ApplyProgress, 'planDigest'>,
): Promise<Plan> {
  if (planDigest === plan.digest) return plan
  const store = createPlanStore(join(dataDir, 'plans'))
  return store.getPlan(planDigest).catch(() => ({ ...plan, batches: [] }))
}

/** Asks where what is inside stands. */
export const askInside = (handle: InsideHandle): Promise<InsideProgress> => ask(handle)

async function ask<T>(handle: Pick<WorkflowHandle, 'query' | 'workflowId'>): Promise<T> {
  try {
    return await handle.query<T>('progress')
  } catch (error) {
    if (!isServiceError(error)) throw error
    throw noWorker(taskQueueOf(handle.workflowId.split('/')[1]!), error)
  }
}

export const nudgeApply = (handle: ApplyHandle): Promise<void> => signal(handle, 'nudge')
export const cancelApply = (handle: ApplyHandle | InsideHandle): Promise<void> => signal(handle, 'cancel')

/** Signals a workflow; one that has ended meanwhile needs no signal. */
async function signal(handle: Pick<WorkflowHandle, 'signal'>, name: string): Promise<void> {
  await handle.signal(name).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}

/**
 * Follows an apply until it is over, or until `until` says that this is enough. Every change is shown once.
 * What follows only looks: ending it (Ctrl-C, a closed terminal) changes nothing. Throws `cli/run-ended`.
 */
export function followApply(
  handle: ApplyHandle,
  show: (progress: ApplyProgress, before: ApplyProgress | undefined) => void | Promise<void>,
  until: (progress: ApplyProgress) => boolean | Promise<boolean> = () => false,
): Promise<ApplyProgress> {
  return followRun(handle, APPLY, {
    ask: () => askProgress(handle),
    show,
    isEnough: (progress) => isOver(progress) || until(progress),
  })
}
