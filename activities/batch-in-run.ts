import { type Batch, fillParameters, type Plan } from '../src/plan/index.ts'
import { needsOf, type RequestedBody } from './body.ts'
import { ApplyError } from './error.ts'
import type { Ids, Step } from './model.ts'
import type { PlanStore } from './plan-store.ts'
import type { BatchRecords } from './run-ledger.ts'

/** A batch that its run may work on now. */
export interface BatchInRun {
  readonly plan: Plan
  readonly batch: Batch
  readonly records: BatchRecords
  /** The type and parameters of its activity, with the ids that earlier batches made. */
  readonly asked: RequestedBody
}

/**
 * Opens a batch for a step: the plan is what its digest says, this run carries it out, and whatever the batch comes after is
 * done, by what the plan store holds. Throws `apply/plan-missing`, `apply/plan-edited`, `apply/run-refused`, `apply/batch-early`.
 */
export async function openBatch({ getPlan, runs }: PlanStore, step: Step): Promise<BatchInRun> {
  const plan = await getPlan(step.planDigest)
  const records = await runs.batch(step, step.batch)
  const batch = batchOf(plan, step.batch)
  const ids: Record<string, string> = { ...plan.ids }
  const needs = new Set(needsOf(plan, batch))
  const makers = plan.batches.filter(({ produces }) => produces.some(({ address }) => needs.has(address)))
  for (const index of new Set([...batch.after, ...makers.map((one) => one.index)])) {
    Object.assign(ids, await producedBy(index))
  }
  const { type } = batch
  const parameters = fillParameters(batch.parameters, ids)
  return { plan, batch, records, asked: { type, organizationId: plan.organization.id, parameters } }

  async function producedBy(index: number): Promise<Ids> {
    const earlier = await runs.batch(step, index)
    const produced = await earlier.produced()
    if (produced !== undefined) return produced
    throw new ApplyError(
      'apply/batch-early',
      `batch ${step.batch + 1} comes after batch ${index + 1}, which is not done`,
    )
  }
}

function batchOf(plan: Plan, index: number): Batch {
  const batch = plan.batches.find((one) => one.index === index)
  if (batch) return batch
  throw new ApplyError('apply/plan-edited', `the plan has no batch ${index}`)
}
