/**
 * `quorate sends stop`: rows that have not been submitted are held back at once, and then the workflow of the batch is
 * told.
 */
import { WorkflowNotFoundError } from '@temporalio/client'
import type { PlanStore, SendBatch } from '../../../activities/index.ts'
import { sendBatchWorkflowId } from '../../operations/index.ts'
import { type BatchReport, readBatchReport } from '../../sending/index.ts'
import { findRunningTemporal } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'

/** How long it is waited for what is on its way: that is a request, which ends by itself. */
const SETTLED_MS = 10_000
const LOOK_EVERY_MS = 250

/**
 * Holds back the rows of a batch that the ledger says is stopped, which holds whatever runs or does not, and says how its rows stand
 * when it is known of each whether it was submitted.
 */
export async function holdBackRows(
  ledger: Pick<PlanStore, 'sends' | 'batches'>,
  batch: SendBatch,
): Promise<BatchReport> {
  for (const until = Date.now() + SETTLED_MS; ; ) {
    // Again, since what could not be reached and waits to be tried again can be held back only now; not where it was resumed meanwhile.
    await ledger.batches.stopRows(batch)
    const report = await readBatchReport(ledger, batch)
    if (!hasUnknown(report) || Date.now() > until) return report
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** Whether of some rows it is not known whether they were submitted. */
export function hasUnknown({ counts }: BatchReport): boolean {
  return counts.submitting !== undefined || counts.unknown !== undefined
}

/** Tells the workflow of a batch, so that it begins nothing more and shows it; false where none runs. */
export async function tellWorkflow(
  input: Pick<CommandInput, 'settings' | 'environment'>,
  { batchId, organization }: SendBatch,
): Promise<boolean> {
  const temporal = await findRunningTemporal(input)
  if (temporal === undefined) return false
  try {
    await temporal.client.workflow.getHandle(sendBatchWorkflowId(organization.id, batchId)).signal('stop')
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  } finally {
    await temporal.close()
  }
}
