/**
 * Looks at what is inside sub-organizations: each is applied by an apply of its own, `apply/<its id>`, on the queue of the parent,
 * whose worker is given the keys. A workflow begins them (`workflows/apply-inside.ts`); here they are followed and compared.
 */
import { join } from 'node:path'
import { type ApplyProgress, createPlanStore, type InsideStand, readAsPlanned } from '../../activities/index.ts'
import type { apply } from '../../workflows/index.ts'
import type { QueryClient } from '../client/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../diagnostics/index.ts'
import { readActual } from '../live/index.ts'
import { isStandIn, kindsOf, movedSince, type Plan, plansInside, subOrganizationsOf } from '../plan/index.ts'
import {
  type ApplyHandle,
  type ApplyPlace,
  askInside,
  askProgress,
  followApply,
  type InsideHandle,
  joinApply,
  planOfRun,
} from './apply.ts'
import { exitOf } from './apply-end.ts'
import { followRun } from './follow.ts'
import { applyId } from './names.ts'
import { APPLY } from './run-end.ts'

/** An apply of a sub-organization that has not ended. */
export interface RunningInside {
  readonly handle: ApplyHandle
  readonly organization: string
  readonly organizationId: string
  readonly progress: ApplyProgress
}

/** The applies of sub-organizations that still run, or wait for people, on this queue. */
export async function runningInside({
  client,
  organizationId,
  taskQueue,
  dataDir,
}: ApplyPlace): Promise<readonly RunningInside[]> {
  const store = createPlanStore(join(dataDir, 'plans'))
  const query = `TaskQueue = '${taskQueue}' AND WorkflowType = 'apply' AND ExecutionStatus = 'Running'`
  const found: RunningInside[] = []
  for await (const { workflowId } of client.workflow.list({ query })) {
    const id = workflowId.slice(applyId('').length)
    if (id === organizationId) continue
    const handle = client.workflow.getHandle<typeof apply>(workflowId)
    const progress = await askProgress(handle)
    const { organization } = await store.getPlan(progress.planDigest)
    found.push({ handle, organization: organization.name, organizationId: id, progress })
  }
  return found.toSorted((a, b) => (a.organization < b.organization ? -1 : 1))
}

/** What begins applies inside, and has not ended. */
export async function beginningInside({ client, taskQueue }: ApplyPlace): Promise<readonly InsideHandle[]> {
  const query = `TaskQueue = '${taskQueue}' AND WorkflowType = 'applyInside' AND ExecutionStatus = 'Running'`
  const found: InsideHandle[] = []
  for await (const { workflowId } of client.workflow.list({ query })) found.push(client.workflow.getHandle(workflowId))
  return found
}

/** The result of applying one sub-organization. */
export interface InsideOutcome {
  readonly plan: Plan
  readonly exit: ExitCode
  /** Absent for one that was not begun. */
  readonly progress?: ApplyProgress
  /** It is begun by itself, once the organization's own apply has come so far. */
  readonly isPending?: boolean
}

export interface InsideFollowed {
  /** The plans of what is inside, in the order in which they are begun. */
  readonly plans: readonly Plan[]
  readonly applies: ApplyPlace
  readonly handle: InsideHandle
  /** Whether the organization's own apply is known to have ended, though what begins those inside may not have heard of it. @default false */
  readonly isOwnOver?: boolean
  /** Called with each result, when an apply ends or begins to wait. */
  readonly ended: (outcome: InsideOutcome) => void
  /** Called each time a running apply has been asked for its progress. */
  readonly look: (plan: Plan, progress: ApplyProgress, before: ApplyProgress | undefined) => void
}

/**
 * Follows what is inside until all of it has ended or waits: for people, or for the organization's own apply that waits. What
 * follows only looks.
 */
export async function followInside(input: InsideFollowed): Promise<readonly InsideOutcome[]> {
  const { plans: planned, handle, ended, isOwnOver = false } = input
  const following = new Map<number, Promise<void>>()
  const outcomes = new Map<number, InsideOutcome>()
  const settle = (index: number, outcome: InsideOutcome) => {
    outcomes.set(index, outcome)
    ended(outcome)
  }
  let fault: { readonly error: unknown } | undefined
  const last = await followRun(handle, APPLY, {
    ask: () => askInside(handle),
    show({ organizations }) {
      for (const [index, stand] of organizations.entries()) {
        if (following.has(index) || stand.state === 'pending') continue
        const followed = followOne(input, planned[index]!, stand).then((outcome) => settle(index, outcome))
        following.set(
          index,
          followed.catch((error: unknown) => {
            fault ??= { error }
          }),
        )
      }
    },
    isEnough: ({ state, organizations }) => {
      if (fault) throw fault.error
      const isPending = organizations.some((stand) => stand.state === 'pending')
      const isFollowed = organizations.every((stand, index) => stand.state === 'pending' || outcomes.has(index))
      return isFollowed && (state === 'waiting' ? !(isPending && isOwnOver) : state !== 'running')
    },
  })
  for (const [index, one] of planned.entries()) {
    if (outcomes.has(index)) continue
    if (last.state === 'waiting') settle(index, { plan: one, exit: EXIT.waiting, isPending: true })
    else settle(index, last.error ? notBegun(one, last.error) : { plan: one, exit: EXIT.error })
  }
  return planned.map((_, index) => outcomes.get(index)!)
}

/** Follows what a workflow that somebody began earlier begins. */
export async function followBegun(
  handle: InsideHandle,
  { applies, ...told }: Pick<InsideFollowed, 'applies' | 'ended' | 'look'>,
): Promise<readonly InsideOutcome[]> {
  const store = createPlanStore(join(applies.dataDir, 'plans'))
  const plans = await store.getInside(await store.getPlan((await askInside(handle)).planDigest))
  return followInside({ ...told, applies, handle, plans })
}

/** Follows one that was begun, here or by another apply, until it has ended or waits. */
async function followOne(
  { applies, look }: InsideFollowed,
  planned: Plan,
  { state, organizationId, planDigest, error }: InsideStand,
): Promise<InsideOutcome> {
  if (state === 'left') return { plan: planned, exit: EXIT.done }
  if (organizationId === undefined || planDigest === undefined) return notBegun(planned, error)
  const place = { ...applies, organizationId }
  const plan = await createPlanStore(join(applies.dataDir, 'plans')).getPlan(planDigest)
  if (error) return notBegun(plan, error)
  const handle =
    state === 'elsewhere'
      ? await joinApply(place, plan)
      : applies.client.workflow.getHandle<typeof apply>(applyId(organizationId))
  // It goes on by itself; a wait for people in one must not keep the others from beginning.
  const progress = await followApply(
    handle,
    (now, before) => look(plan, now, before),
    (now) => now.state === 'waiting',
  )
  return { plan: await planOfRun(applies, plan, progress), exit: exitOf(progress), progress }
}

/** Why nothing of it could be begun, in the form of an apply. */
function notBegun(plan: Plan, error: InsideStand['error']): InsideOutcome {
  const state = error?.code === 'plan/stale' ? 'stale' : 'failed'
  const progress: ApplyProgress = {
    planDigest: plan.digest,
    state,
    startedAt: new Date().toISOString(),
    batches: [],
    ...(error ? { error } : {}),
  }
  return { plan, exit: exitOf(progress), progress }
}

/**
 * The differences since a plan was made, one sentence each, in the organization and in the sub-organizations that it
 * changes.
 */
export async function movedAnywhere(client: QueryClient, plan: Plan): Promise<readonly string[]> {
  const wanted = subOrganizationsOf(plan)
  const reach = { mentioned: kindsOf(plan), ...(wanted.length > 0 ? { subOrganizations: wanted } : {}) }
  const moved = [...movedSince(plan, await readActual(client, reach))]
  for (const one of plansInside(plan)) {
    const { id, name } = one.organization
    if (isStandIn(id)) continue
    moved.push(...movedSince(one, await readAsPlanned(client, one, id)).map((text) => `in ${name}: ${text}`))
  }
  return moved
}

/**
 * Makes sure that no sub-organization has moved since a saved plan was made, before anything of it is begun. One whose plan
 * was begun before has moved because of that. Throws `plan/stale`.
 */
export async function assertFreshInside(
  client: QueryClient,
  plan: Plan,
  { dataDir }: Pick<ApplyPlace, 'dataDir'>,
): Promise<void> {
  const store = createPlanStore(join(dataDir, 'plans'))
  for (const one of plansInside(plan)) {
    const { id, name } = one.organization
    if (isStandIn(id) || (await store.spentBy(one.digest)) !== undefined) continue
    const moved = movedSince(one, await readAsPlanned(client, one, id))
    if (moved.length === 0) continue
    throw new QuorateError(
      'plan/stale',
      `sub-organization \`${name}\` has moved since the plan was made: ${moved.slice(0, 5).join('; ')}`,
      {
        facts: { 'made at': one.createdAt, moved: moved.length, submitted: 'nothing' },
        next: 'make the plan again and look at it',
        exit: EXIT.stale,
      },
    )
  }
}
