import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { canonicalJson, encodeHex } from '../src/encoding/index.ts'
import { ApplyError } from './error.ts'
import { inTurns } from './in-turns.ts'
import type { Records } from './records.ts'
import type { RowStand, RowState, SendBatch, SendBatchCounts, SendBatchRow } from './send-batch-model.ts'
import { type SendLedger, sendIdOf } from './send-ledger.ts'
import { failedHow, isSameSend, isSendOver, type SendOrder } from './send-model.ts'

/** The send batches that were begun with this data folder, and the state of each row by the ledger of sends. */
export interface SendBatchLedger {
  /** Stores a send batch, in the place of an earlier one with the same rows. */
  put(batch: SendBatch): Promise<void>
  /** Throws `apply/order-missing`. */
  get(batchId: string): Promise<SendBatch>
  /** Ids of all batches. */
  ids(): Promise<readonly string[]>
  /** The state of each row, in the order of the file. */
  survey(batch: SendBatch): Promise<readonly RowStand[]>
  /** Stops a batch: of its rows, none that has not been submitted will be. Harmless where it is stopped. */
  stop(batch: SendBatch, at: Date): Promise<void>
  /**
   * Stops the rows of a batch that are not submitted, as long as the batch is stopped; false where it is not. A step that runs late, or
   * again, takes back nothing that was said after it was asked for.
   */
  stopRows(batch: SendBatch): Promise<boolean>
  /** When a batch was stopped, ISO 8601. */
  stoppedAt(batchId: string): Promise<string | undefined>
  /** Takes a stop back: rows may be begun again. */
  resume(batchId: string): Promise<void>
}

/** Files that are read at the same time: more would wait for each other anyway. */
const AT_ONCE = 32

/** Makes the ledger of batches in the plan store's folder. */
export function createSendBatchLedger(folder: string, records: Records, sends: SendLedger): SendBatchLedger {
  const { claim, list, read, remove, write } = records
  const shelf = join(folder, 'send-batches')
  const stopAt = (batchId: string) => join(folder, 'send-batch-stops', batchId)
  const stoppedAt = (batchId: string) => read(stopAt(batchId))

  const stand = async (row: SendBatchRow, ends: 'stopped' | 'not begun'): Promise<RowStand> => {
    const sendId = sendIdOf(row.order)
    const entered = await sends.findOrder(sendId)
    if (entered === undefined) return { row, sendId, state: row.leftOut === undefined ? ends : 'left out' }
    const progress = await sends.getProgress(sendId)
    // A reference whose send was given up is free for another.
    if (progress?.state !== 'given up' && !isSameSend(entered, row.order)) return { row, sendId, state: 'taken' }
    return { row, sendId, state: progress?.state ?? 'submitting', ...(progress === undefined ? {} : { progress }) }
  }

  const survey: SendBatchLedger['survey'] = async ({ batchId, rows }) => {
    const ends = (await stoppedAt(batchId)) === undefined ? 'not begun' : 'stopped'
    return inTurns(rows, AT_ONCE, (row) => stand(row, ends))
  }

  const stopRows: SendBatchLedger['stopRows'] = async (batch) => {
    if ((await stoppedAt(batch.batchId)) === undefined) return false
    const stands = await survey(batch)
    await inTurns(stands.filter(isUnsubmitted), AT_ONCE, ({ sendId }) => sends.stop(sendId))
    return true
  }

  return {
    put: (batch) => write(join(shelf, batch.batchId), JSON.stringify(batch)),
    async get(batchId) {
      const text = /^[0-9a-f]{64}$/.test(batchId) ? await read(join(shelf, batchId)) : undefined
      if (text !== undefined) return JSON.parse(text) as SendBatch
      throw new ApplyError('apply/order-missing', `the plan store has no batch \`${batchId}\``, { facts: { folder } })
    },
    ids: () => list(shelf),
    survey,
    async stop(batch, at) {
      // INVARIANT: the mark is written before any row is read; the beginning of a row reads it after the row is in the
      // ledger.
      await claim(stopAt(batch.batchId), at.toISOString())
      await stopRows(batch)
    },
    stopRows,
    stoppedAt,
    resume: (batchId) => remove(stopAt(batchId)),
  }
}

/** The name of a batch: the same rows are the same batch, whenever and from wherever they are begun. */
export function batchIdOf(organizationId: string, orders: readonly SendOrder[]): string {
  const rows = orders.map(({ reference, type, parameters }) => ({ reference, type, parameters }))
  return encodeHex(sha256(canonicalJson([organizationId, rows])))
}

/** A send that was begun, and of which no answer is known. */
export function isUnsubmitted({ state, progress }: RowStand): boolean {
  return state === 'submitting' && progress?.activityId === undefined
}

/** Whether nothing more will come of a row by itself. */
export function isRowOver(state: RowState): boolean {
  return state === 'left out' || state === 'taken' || (state !== 'not begun' && isSendOver(state))
}

/** Counts the rows in each state; those that have failed by how. */
export function countsOf(stands: readonly Pick<RowStand, 'state' | 'progress'>[]): SendBatchCounts {
  const counts: Record<string, number> = {}
  for (const { state, progress } of stands) {
    const end = failedHow(progress) ?? state
    counts[end] = (counts[end] ?? 0) + 1
  }
  return counts
}
