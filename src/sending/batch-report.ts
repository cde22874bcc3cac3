/** The report of a batch, row by row; as JSON and as CSV of the same values. */
import type { RowStand, SendBatch, SendBatchProgress } from '../../activities/index.ts'
import { csvLine, EXIT, type ExitCode } from '../diagnostics/index.ts'
import type { Finality } from './finality.ts'
import type { ReplacedBy } from './replaced-by.ts'
import type { SenderBalance } from './senders.ts'
import { exitOfStates, type KnownOfSend, nextOf, type SendState, stateOf } from './states.ts'

export interface BatchReport {
  readonly batchId: string
  readonly organizationId: string
  readonly file: string
  /** ISO 8601. */
  readonly orderedAt: string
  /** When somebody stopped it, ISO 8601. */
  readonly stoppedAt?: string
  /** How many rows are in which state. */
  readonly counts: Readonly<Partial<Record<SendState, number>>>
  readonly rows: readonly ReportRow[]
  /** What those who pay have now, in the currency of the chain. */
  readonly senders?: readonly SenderBalance[]
}

interface ReportRow {
  /** Line in the file. */
  readonly row: number
  readonly reference: string
  readonly from: string
  readonly to: string
  readonly amount: string
  readonly state: SendState
  readonly transactionHash?: string
  /** On Ethereum, where a node of the user's own tells it. */
  readonly nonce?: string
  /** Number of its block; on Solana the slot. */
  readonly block?: string
  /** In the smallest unit of the chain's currency. */
  readonly fee?: string
  /** Blocks on top of it, its own counted, where a node of the user's own tells them. */
  readonly confirmations?: number
  /** Who says that it is in a block. */
  readonly reportedBy?: Finality['reportedBy']
  /** How many nodes of the user's own say so. */
  readonly nodes?: number
  /** The send of this ledger that has its nonce. */
  readonly replacedBy?: ReplacedBy
  /** Where nobody could be asked how it stands: when the ledger was told last, ISO 8601. */
  readonly recordedAt?: string
  /** Why it is not included. */
  readonly reason?: string
  /** What is to be done about it. */
  readonly next?: string
  readonly activityId?: string
}

export function toBatchReport(
  batch: SendBatch,
  stands: readonly StandingRow[],
  {
    stoppedAt,
    senders = [],
  }: { readonly stoppedAt?: string | undefined; readonly senders?: readonly SenderBalance[] } = {},
): BatchReport {
  const { batchId, organization, file, orderedAt } = batch
  const rows = stands.map(toRow)
  return {
    batchId,
    organizationId: organization.id,
    file,
    orderedAt,
    ...(stoppedAt === undefined ? {} : { stoppedAt }),
    counts: countStates(rows),
    rows,
    ...(senders.length === 0 ? {} : { senders }),
  }
}

/** A row, and what else its state follows from. */
export type StandingRow = RowStand &
  Pick<KnownOfSend, 'isAsked' | 'replacedBy' | 'finality' | 'heldUp'> & {
    readonly nonce?: string
    readonly recordedAt?: string
  }

/** Counts the rows in each state. */
export function countStates(rows: readonly Pick<ReportRow, 'state'>[]): BatchReport['counts'] {
  const counts: Partial<Record<SendState, number>> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** The state of a row, and what is to be done about it. */
export function rowState({ row: _, state, ...facts }: StandingRow): {
  readonly state: SendState
  readonly next?: string
} {
  const next = nextOf({ row: state, ...facts })
  return { state: stateOf({ row: state, ...facts }), ...(next === undefined ? {} : { next }) }
}

function toRow(stand: StandingRow): ReportRow {
  const { row, nonce, recordedAt, progress, finality, replacedBy } = stand
  const { state, next } = rowState(stand)
  const { reference, from, to, amount } = row.order
  const { transactionHash, receipt, activityId, error } = progress ?? {}
  const block = finality?.block ?? receipt?.block
  const fee = receipt?.fee.amount ?? finality?.fee
  const reason = state === 'left out' ? row.leftOut : (REASONS[state as keyof typeof REASONS] ?? error?.message)
  return {
    row: row.line,
    reference,
    from,
    to,
    amount,
    state,
    ...(transactionHash === undefined ? {} : { transactionHash }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(block === undefined ? {} : { block }),
    ...(fee === undefined ? {} : { fee }),
    ...(finality?.confirmations === undefined ? {} : { confirmations: finality.confirmations }),
    ...(finality === undefined ? {} : { reportedBy: finality.reportedBy }),
    ...(finality?.nodes === undefined ? {} : { nodes: finality.nodes }),
    ...(replacedBy === undefined ? {} : { replacedBy }),
    ...(recordedAt === undefined ? {} : { recordedAt }),
    ...(reason === undefined ? {} : { reason }),
    ...(next === undefined ? {} : { next }),
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
  'block',
  'fee',
  'confirmations',
  'reportedBy',
  'nonce',
  'next',
  'replacedBy',
  'recordedAt',
  'nodes',
] as const

/** One line for each row, after the names of the columns. */
export function toReportCsv({ rows }: Pick<BatchReport, 'rows'>): string {
  const cells = rows.map((row) => ({ ...row, replacedBy: row.replacedBy?.reference }))
  return [COLUMNS, ...cells.map((row) => COLUMNS.map((name) => String(row[name] ?? '')))].map(csvLine).join('')
}

/** Done when all are in the chain; partial when one never will be; otherwise something is waited for. */
export function exitOfBatch({ counts }: BatchReport, { stopped, error }: Partial<SendBatchProgress> = {}): ExitCode {
  if (error) return EXIT.error
  const states = Object.keys(counts) as SendState[]
  // What a stopped batch has not begun, it never will.
  return exitOfStates(states.map((state) => (stopped && state === 'not begun' ? 'stopped' : state)))
}
