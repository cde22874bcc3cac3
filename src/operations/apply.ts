import { join } from 'node:path'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { type ApplyProgress, createPlanStore } from '../../activities/index.ts'
import type { apply } from '../../workflows/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import type { Plan } from '../plan/index.ts'
import { isOver } from './apply-end.ts'
import { followRun, untilAskedAgain } from './follow.ts'
import { applyId, taskQueueOf } from './names.ts'
import { APPLY } from './run-end.ts'
import { isAlreadyStarted, isNotFound, isServiceError } from './temporal-errors.ts'

export type ApplyHandle = WorkflowHandle<typeof apply>

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
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: 1, // TASK_QUEUE_TYPE_WORKFLOW
    })
    if (pollers && pollers.length > 0) return
    if (Date.now() > until) throw noWorker(taskQueue)
    await untilAskedAgain()
  }
}

function noWorker(taskQueue: string, cause?: unknown): QuorateError {
  return new QuorateError('cli/no-worker', `no worker polls the task queue \`${taskQueue}\``, {
    facts: { submitted: 'nothing by this command' },
    next: 'start one with `quorate worker`, with the same settings, and run this again',
    cause,
  })
}

/**
 * Starts applying a plan, or joins the run that carries out the same definitions already: the world has moved under it
 * because of that very run. Throws `cli/apply-runs` when what runs was made from other definitions.
 */
export async function startApply(
  { client, organizationId, taskQueue, dataDir }: ApplyPlace,
  plan: Plan,
): Promise<ApplyHandle> {
  await assertWorker(client, taskQueue)
  const planStore = createPlanStore(join(dataDir, 'plans'))
  await planStore.putPlan(plan)
  const workflowId = applyId(organizationId)
  const run = await planStore.runs.open(plan.digest)
  try {
    const handle = await client.workflow.start<typeof apply>('apply', {
      workflowId,
      taskQueue,
      args: [{ organizationId, planDigest: plan.digest, run }],
      workflowIdConflictPolicy: 'FAIL',
    })
    // This run holds the lock. One that was ended at Temporal cannot be started again with the old input.
    await planStore.endRuns(organizationId, { except: run })
    return handle
  } catch (error) {
    if (!isAlreadyStarted(error)) throw error
    await planStore.runs.end({ planDigest: plan.digest, run })
    const handle = client.workflow.getHandle<typeof apply>(workflowId)
    const running = await askProgress(handle)
    const runningPlan = await planStore.getPlan(running.planDigest).catch(() => undefined)
    if (runningPlan?.definitionsDigest === plan.definitionsDigest) return handle
    throw new QuorateError('cli/apply-runs', 'another plan is being applied to this organization', {
      facts: { since: running.startedAt, plan: running.planDigest, submitted: 'nothing of this plan' },
      next: 'follow it with `quorate status --follow`, or stop it with `quorate status --cancel` and apply again',
    })
  }
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

/** Asks where an apply stands. A worker that went away since it was last seen is `cli/no-worker`, as none is. */
export async function askProgress(handle: ApplyHandle): Promise<ApplyProgress> {
  try {
    return await handle.query<ApplyProgress>('progress')
  } catch (error) {
    if (!isServiceError(error)) throw error
    throw noWorker(taskQueueOf(handle.workflowId.slice(applyId('').length)), error)
  }
}

export const nudgeApply = (handle: ApplyHandle): Promise<void> => signal(handle, 'nudge')
export const cancelApply = (handle: ApplyHandle): Promise<void> => signal(handle, 'cancel')

/** Signals a workflow; one that has ended meanwhile needs no signal. */
async function signal(handle: Pick<ApplyHandle, 'signal'>, name: string): Promise<void> {
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
  show: (progress: ApplyProgress, before: ApplyProgress | undefined) => void,
  until: (progress: ApplyProgress) => boolean | Promise<boolean> = () => false,
): Promise<ApplyProgress> {
  return followRun(handle, APPLY, {
    ask: () => askProgress(handle),
    show,
    isEnough: (progress) => isOver(progress) || until(progress),
  })
}
