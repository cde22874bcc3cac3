/** The report of a batch, row by row; as JSON and as CSV of the same values. */
import {
  countsOf,
  type RowStand,
  type SendBatch,
  type SendBatchCounts,
  type SendBatchProgress,
} from '../../activities/index.ts'
import { EXIT, type ExitCode, printable } from '../diagnostics/index.ts'

export interface BatchReport {
  readonly batchId: string
  readonly organizationId: string
  readonly file: string
  /** ISO 8601. */
  readonly orderedAt: string
  /** When somebody stopped it, ISO 8601. */
  readonly stoppedAt?: string
  readonly counts: SendBatchCounts
  readonly rows: readonly ReportRow[]
}

interface ReportRow {
  /** Line in the file. */
  readonly row: number
  readonly reference: string
  readonly from: string
  readonly to: string
  readonly amount: string
  readonly state: RowStand['state']
  readonly transactionHash?: string
  /** Why it is not included. */
  readonly reason?: string
  readonly activityId?: string
}

export function toBatchReport(
  batch: SendBatch,
  stands: readonly RowStand[],
  stoppedAt: string | undefined,
): BatchReport {
  const { batchId, organization, file, orderedAt } = batch
  return {
    batchId,
    organizationId: organization.id,
    file,
    orderedAt,
    ...(stoppedAt === undefined ? {} : { stoppedAt }),
    counts: countsOf(stands),
    rows: stands.map(toRow),
  }
}

function toRow({ row, state, progress }: RowStand): ReportRow {
  const { reference, from, to, amount } = row.order
  const { transactionHash, activityId, error } = progress ?? {}
  const reason = state === 'left out' ? row.leftOut : (REASONS[state as keyof typeof REASONS] ?? error?.message)
  return {
    row: row.line,
    reference,
    from,
    to,
    amount,
    state,
    ...(transactionHash === undefined ? {} : { transactionHash }),
    ...(reason === undefined ? {} : { reason }),
    ...(activityId === undefined ? {} : { activityId }),
  }
}

const REASONS = {
  taken: 'its reference stands for another send',
  stopped: 'the batch was stopped before it was submitted',
}

const COLUMNS = [
  'row',
  'reference',
  'from',
  'to',
  'amount',
  'state',
  'transactionHash',
  'reason',
  'activityId',
] as const

/** RFC 4180. */
export function toReportCsv({ rows }: Pick<BatchReport, 'rows'>): string {
  const lines = rows.map((row) => COLUMNS.map((name) => quoted(String(row[name] ?? ''))).join(','))
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

/** A spreadsheet takes what begins like a formula for one, and runs it: a mark before it makes it text (OWASP, CSV injection). */
function quoted(text: string): string {
  const shown = printable(text)
  const inert = /^\s*[=+\-@＝＋－＠]/.test(shown) ? `'${shown}` : shown
  return /[",;]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/** Done when all are in the chain; partial when one never will be; otherwise something is waited for. */
export function exitOfBatch({ counts }: BatchReport, { stopped, error }: Partial<SendBatchProgress> = {}): ExitCode {
  if (error) return EXIT.error
  const some = (...states: readonly RowStand['state'][]) => states.some((state) => counts[state] !== undefined)
  if (some('submitting', 'waiting', 'broadcasting') || (some('not begun') && !stopped)) return EXIT.waiting
  return some('failed', 'given up', 'rejected', 'taken', 'left out', 'stopped', 'not begun') ? EXIT.partial : EXIT.done
}
