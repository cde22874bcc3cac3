/**
 * Carries out what a plan says of sub-organizations, each by an apply of its own: `apply/<its id>` is its lock. It runs on the
 * queue of the parent, whose worker is given the keys. One that the parent has just made is settled first: its plan is the one
 * that was looked at, with ids for stand-ins.
 */
import { join } from 'node:path'
import { type ApplyProgress, createPlanStore } from '../../activities/index.ts'
import type { apply } from '../../workflows/index.ts'
import type { QueryClient } from '../client/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../diagnostics/index.ts'
import { readActual, readInside } from '../live/index.ts'
import {
  appliedPlans,
  collectIds,
  isStandIn,
  kindsOf,
  movedSince,
  type Plan,
  settle,
  subOrganizationsOf,
} from '../plan/index.ts'
import { formatAddress } from '../resources/index.ts'
import { type ApplyHandle, type ApplyPlace, askProgress, followApply, startApply } from './apply.ts'
import { exitOf, isOver } from './apply-end.ts'
import { applyId } from './names.ts'

/** Applies of sub-organizations that run at the same time. */
const AT_ONCE = 4

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

/** The result of applying one sub-organization. */
export interface InsideOutcome {
  readonly plan: Plan
  readonly exit: ExitCode
  /** Absent for one that was not begun. */
  readonly progress?: ApplyProgress
}

/** Plans of sub-organizations in which there is something to do, and somebody to do it as. */
export function plansToApply(plan: Plan): readonly Plan[] {
  return appliedPlans(plan).filter((one) => one !== plan && one.batches.length > 0)
}

export interface InsideApply {
  readonly plan: Plan
  readonly client: QueryClient
  readonly applies: ApplyPlace
  /** The progress of the parent's own apply, with the ids of the sub-organizations that it made. */
  readonly progress: Pick<ApplyProgress, 'batches'>
  /** Called with each result, when an apply ends or begins to wait. */
  readonly ended: (outcome: InsideOutcome) => void
  /** Called each time a running apply has been asked for its progress. */
  readonly look?: (plan: Plan, progress: ApplyProgress, before: ApplyProgress | undefined) => void
}

/** Applies them all, a few at a time; one that fails or waits stops no other. */
export async function applyInside(input: InsideApply): Promise<readonly InsideOutcome[]> {
  const outcomes: InsideOutcome[] = []
  const left = [...plansToApply(input.plan)]
  const work = async () => {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      const outcome = await applyOne(input, plan)
      input.ended(outcome)
      outcomes.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcomes.toSorted((a, b) => (a.plan.organization.name < b.plan.organization.name ? -1 : 1))
}

async function applyOne(input: InsideApply, planned: Plan): Promise<InsideOutcome> {
  const plan = isStandIn(planned.organization.id) ? await settled(input, planned) : planned
  if (!plan) return { plan: planned, exit: EXIT.done }
  const place = { ...input.applies, organizationId: plan.organization.id }
  const handle = await startApply(place, plan)
  // It goes on by itself; a wait for people in one must not keep the others from beginning.
  const show = (now: ApplyProgress, before: ApplyProgress | undefined) => input.look?.(plan, now, before)
  const progress = await followApply(handle, show, ({ state }) => state === 'waiting')
  return { plan, exit: isOver(progress) || progress.state === 'waiting' ? exitOf(progress) : EXIT.waiting, progress }
}

/** The plan with the ids of what lives; undefined when the parent has not made it. */
async function settled({ plan, client, progress }: InsideApply, planned: Plan): Promise<Plan | undefined> {
  const { name } = planned.organization
  const address = formatAddress('subOrganization', name)
  const batch = plan.batches.find(({ produces }) => produces.some((one) => one.address === address))
  const made = batch && progress.batches.find(({ index }) => index === batch.index)
  if (made?.state !== 'completed' || made.activityId === undefined) return undefined
  const { activity } = await client.query('get_activity', { activityId: made.activityId })
  const id = collectIds(batch!, activity.result)[address]!
  return settle(planned, await readAsPlanned(client, planned, id))
}

/** What is inside, as far as the plan leans on it. */
function readAsPlanned(client: QueryClient, plan: Plan, id: string) {
  const { publicKey } = plan.actor
  const { name } = plan.organization
  return readInside(client, { id, name }, { publicKey, reader: plan.actor, mentioned: kindsOf(plan), sparing: true })
}

/**
 * The differences since a plan was made, one sentence each, in the organization and in the sub-organizations that it
 * changes.
 */
export async function movedAnywhere(client: QueryClient, plan: Plan): Promise<readonly string[]> {
  const wanted = subOrganizationsOf(plan)
  const reach = { mentioned: kindsOf(plan), ...(wanted.length > 0 ? { subOrganizations: wanted } : {}) }
  const moved = [...movedSince(plan, await readActual(client, reach))]
  for (const one of plansToApply(plan)) {
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
  for (const one of plansToApply(plan)) {
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
