import type { PlanStore, SendBatch } from '../../activities/index.ts'
import { type BatchReport, toBatchReport } from './batch-report.ts'
import { type NodeSettings, withFinality } from './finality.ts'
import { findReplacers } from './replaced-by.ts'
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

/**
 * The state of each row of a batch, up to now.
 * @param settings nodes that say what is final. @default none is asked
 */
export async function readBatchReport(
  { sends, batches }: Pick<PlanStore, 'sends' | 'batches'>,
  batch: SendBatch,
  settings: NodeSettings = { nodes: {}, confirmations: {} },
): Promise<BatchReport> {
  const [stands, stoppedAt] = await Promise.all([batches.survey(batch), batches.stoppedAt(batch.batchId)])
  const asked = await Promise.all(
    stands.map(async (one) => ({
      ...one,
      order: one.row.order,
      isAsked: one.state === 'submitting' && one.progress === undefined && (await sends.isAsked(one.sendId)),
    })),
  )
  const rows = await withFinality(await findReplacers(sends, asked), sends, settings)
  return toBatchReport(batch, rows, stoppedAt)
}
