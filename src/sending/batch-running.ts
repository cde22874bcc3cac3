import type { WorkflowHandle } from '@temporalio/client'
import type { SendBatch, SendBatchProgress } from '../../activities/index.ts'
import type { sendBatch } from '../../workflows/index.ts'
import {
  type ApplyPlace,
  assertWorker,
  BATCH,
  followRun,
  isServiceError,
  sendBatchWorkflowId,
  startShown,
} from '../operations/index.ts'
import type { BatchReport } from './batch-report.ts'
import { ledgerOf } from './running.ts'

type BatchHandle = WorkflowHandle<typeof sendBatch>

/** Begins a batch, or joins the one with the same rows that runs; of one that has ended, what is open is taken up again. */
export async function beginBatch(
  { client, taskQueue, dataDir }: ApplyPlace,
  {
    batch,
    stopOnFailure,
    resumes,
  }: {
    readonly batch: SendBatch
    readonly stopOnFailure: boolean
    /** Whether one that was stopped goes on. */
    readonly resumes: boolean
  },
): Promise<BatchHandle> {
  await assertWorker(client, taskQueue)
  const { batches } = ledgerOf(dataDir)
  await batches.put(batch)
  const { batchId, organization } = batch
  if (resumes) await batches.resume(batchId)
  return startShown(client, { organizationId: organization.id, carriesOut: batchId }, async (shown) => {
    const options = {
      workflowId: sendBatchWorkflowId(organization.id, batchId),
      taskQueue,
      args: [{ organizationId: organization.id, batchId, stopOnFailure, ...shown.input }] as const,
      workflowIdConflictPolicy: 'USE_EXISTING',
      ...shown.options,
    } as const
    // One that was stopped may still run, to follow what was submitted, and may end just now.
    if (resumes) return client.workflow.signalWithStart<typeof sendBatch>('sendBatch', { ...options, signal: 'resume' })
    return client.workflow.start<typeof sendBatch>('sendBatch', options)
  })
}

const COUNTED_MS = 3_000

/** The progress of a batch with the states of its rows as its report has them. */
export type FollowedBatch = Omit<SendBatchProgress, 'counts'> & Pick<BatchReport, 'counts'>

/** Follows a batch until it is over, or until `until` says that this is enough. A worker that went away is waited for. Throws `cli/run-ended`. */
export function followBatch(
  { client, taskQueue }: ApplyPlace,
  handle: BatchHandle,
  {
    count,
    show,
    until,
  }: {
    /** How many rows are in which state. Asked where the workflow has news, and without any every few seconds, then also of the API (`asks`). */
    readonly count: (how: { readonly asks: boolean }) => Promise<BatchReport['counts']>
    readonly show: (progress: FollowedBatch) => void
    /** `first` is how it stood when this began to follow. */
    readonly until: (progress: FollowedBatch, first: FollowedBatch) => boolean
  },
): Promise<FollowedBatch> {
  let first: FollowedBatch | undefined
  let known: { readonly of: string; readonly at: number; readonly counts: BatchReport['counts'] } | undefined
  const ask = async (): Promise<FollowedBatch> => {
    const progress = await handle.query<SendBatchProgress>('progress')
    const of = JSON.stringify(progress)
    const at = performance.now()
    const hasNews = known?.of !== of
    // What a row waits for is no news to the workflow.
    if (hasNews || at - known!.at > COUNTED_MS) known = { of, at, counts: await count({ asks: !hasNews }) }
    return { ...progress, counts: known!.counts }
  }
  return followRun(handle, BATCH, {
    ask,
    show,
    async isEnough(progress) {
      // A user who runs the command again has often just approved something.
      if (first === undefined && !progress.over) await handle.signal('nudge').catch(() => {})
      first ??= progress
      return progress.over || until(progress, first)
    },
    async recover(error) {
      if (!isServiceError(error)) throw error
      await assertWorker(client, taskQueue)
    },
  })
}
