/**
 * One look at a watched organization, begun by a Temporal Schedule: each is a run of its own, so that no history grows. What is
 * compared, and whether a repair may begin, its steps decide by what a person has put into the plan store. A repair is an apply
 * like any other, under the organization's lock: beside another apply none begins. What it changes inside sub-organizations alone is
 * begun as by `quorate apply`, each under the lock of its sub-organization.
 */
import type { WatchCycle } from '../activities/watch-model.ts'
import type { ApplyInput, ApplyInsideInput, ReconcileInput } from './inputs.ts'
import { applyId, applyInsideId } from './names.ts'
import { startDetached } from './start-detached.ts'
import { longSteps, steps } from './steps.ts'

export async function reconcile({ organizationId }: ReconcileInput): Promise<WatchCycle> {
  const cycle = await longSteps.lookAround({ organizationId })
  if (cycle.repair === undefined) return cycle
  const repair = { organizationId, planDigest: cycle.repair }
  const { run, inside, ...shown } = await steps.openRepair(repair)
  const tells = inside && applyInsideId(organizationId, inside.name)
  const told = inside ? { inside: { run: inside.run, makers: inside.makers }, tells: tells! } : {}
  const begin = () => {
    if (run === undefined) {
      const { commit: _, ...more } = shown
      const input: ApplyInsideInput = { ...repair, run: inside!.run, ...more }
      return startDetached('applyInside', { workflowId: tells!, input })
    }
    const input: ApplyInput = { ...repair, run, ...shown, ...told }
    return startDetached('apply', { workflowId: applyId(organizationId), input })
  }
  const begun = await begin()
  const tokens = { ...(run === undefined ? {} : { run }), ...(inside ? { inside: inside.run } : {}) }
  await steps.settleRepair({ ...repair, ...tokens, begun })
  return cycle
}
