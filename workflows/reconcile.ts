/**
 * One look at a watched organization, begun by a Temporal Schedule: each is a run of its own, so that no history grows. What is
 * compared, and whether a repair may begin, its steps decide by what a person has put into the plan store. A repair is an apply
 * like any other, under the organization's lock: beside another apply none begins.
 */
import type { WatchCycle } from '../activities/watch-model.ts'
import type { ApplyInput, ReconcileInput } from './inputs.ts'
import { applyId } from './names.ts'
import { startDetached } from './start-detached.ts'
import { longSteps, steps } from './steps.ts'

export async function reconcile({ organizationId }: ReconcileInput): Promise<WatchCycle> {
  const cycle = await longSteps.lookAround({ organizationId })
  if (cycle.repair === undefined) return cycle
  const repair = { organizationId, planDigest: cycle.repair }
  const { run, ...shown } = await steps.openRepair(repair)
  const input: ApplyInput = { ...repair, run, ...shown }
  const begun = await startDetached('apply', { workflowId: applyId(organizationId), input })
  await steps.settleRepair({ ...repair, run, begun })
  return cycle
}
