import type { PlanStore, SendBatch } from '../../activities/index.ts'
import { type BatchReport, toBatchReport } from './batch-report.ts'
import { unknownName, usage } from './usage.ts'

type Batches = PlanStore['batches']

/** Finds a batch by the beginning of its id. Throws `cli/usage` or `cli/unknown-name`. */
export async function findBatch(batches: Batches, begins: string): Promise<SendBatch> {
  const ids = await batches.ids()
  const [batchId, another] = ids.filter((id) => id.startsWith(begins))
  if (another !== undefined) throw usage(`several batches begin with \`${begins}\``, 'give more of the id')
  if (batchId !== undefined) return batches.get(batchId)
  const known = ids.map((id) => id.slice(0, 12))
  throw unknownName('batch', begins, known)
}

/** The state of each row of a batch, up to now. */
export async function readBatchReport(batches: Batches, batch: SendBatch): Promise<BatchReport> {
  const [stands, stoppedAt] = await Promise.all([batches.survey(batch), batches.stoppedAt(batch.batchId)])
  return toBatchReport(batch, stands, stoppedAt)
}
