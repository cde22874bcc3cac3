import type { QueryClient } from '../src/client/index.ts'
import { QuorateError } from '../src/diagnostics/index.ts'
import { type Batch, collectIds, type Made, type Plan } from '../src/plan/index.ts'
import type { Ids } from './model.ts'
import type { PlanStore } from './plan-store.ts'
import type { UnlockedRun } from './run-ledger.ts'

/** Resources that runs made and that no lock file is known to name. */
export interface MadeByRuns {
  /** By organization id. */
  readonly byOrganization: ReadonlyMap<string, readonly Made[]>
  /** The activities of those runs, each with when its plan was made (ISO 8601). */
  activities(): Promise<ReadonlyMap<string, string>>
  /** Records that the lock files name what the runs of these plans made. */
  settle(isLocked: (plan: Plan) => boolean): Promise<void>
}

/**
 * Reads what runs made since the lock was last written: of each batch that completed, its changes with their ids. Where a run
 * did not live to see what became of its activity, the API is asked.
 */
export async function readMade(
  { runs, getPlan }: Pick<PlanStore, 'runs' | 'getPlan'>,
  { clientOf, baseUrl }: { readonly clientOf: (organizationId: string) => QueryClient; readonly baseUrl: string },
): Promise<MadeByRuns> {
  const byOrganization = new Map<string, Made[]>()
  const found: { readonly run: UnlockedRun; readonly plan: Plan }[] = []
  for (const run of await runs.listUnlocked()) {
    // What was written by another version, or lost, says nothing any more.
    const plan = await getPlan(run.planDigest).catch(() => undefined)
    if (plan?.organization.baseUrl !== baseUrl) continue
    const organizationId = plan.organization.id
    found.push({ run, plan })
    const made = byOrganization.get(organizationId) ?? []
    byOrganization.set(organizationId, made)
    for (const batch of plan.batches) {
      const ids = (await run.produced(batch.index)) ?? (await askFor(clientOf(organizationId), { batch, run }))
      if (ids) made.push(...madeBy(plan, batch, ids))
    }
  }
  return {
    byOrganization,
    async activities() {
      const rows = found.flatMap(({ run, plan: { batches, createdAt } }) =>
        batches.map(async ({ index }) => ({ id: await run.activityId(index), createdAt })),
      )
      const known = (await Promise.all(rows)).flatMap(({ id, createdAt }): [string, string][] =>
        id === undefined ? [] : [[id, createdAt]],
      )
      // One that a later run went on with is as the later plan says.
      return new Map(known.sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0)))
    },
    async settle(isLocked) {
      for (const { run, plan } of found) if (isLocked(plan)) await run.settle()
    },
  }
}

function madeBy(plan: Plan, batch: Batch, ids: Ids): readonly Made[] {
  return batch.changes.flatMap((address) => {
    const change = plan.changes.find((one) => one.address === address && one.action !== 'adopt')
    return change ? [{ change, ...(ids[address] === undefined ? {} : { id: ids[address] }) }] : []
  })
}

async function askFor(
  client: QueryClient,
  { batch, run }: { readonly batch: Batch; readonly run: UnlockedRun },
): Promise<Ids | undefined> {
  const activityId = await run.activityId(batch.index)
  if (activityId === undefined) return undefined
  try {
    const { activity } = await client.query('get_activity', { activityId })
    return activity.status === 'ACTIVITY_STATUS_COMPLETED' ? collectIds(batch, activity.result) : undefined
  } catch (error) {
    // The organization was made anew at the same address.
    if (error instanceof QuorateError && error.code === 'client/not-found') return undefined
    throw error
  }
}
