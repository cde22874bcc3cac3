import type { Failure } from './model.ts'
import type { FailedHow, SendActivityState, SendOrder, SendProgress, TransactionState } from './send-model.ts'

/** Many sends of one file. Each is a send of its own, under its own reference; this is what they have in common. */
export interface SendBatch {
  readonly batchId: string
  readonly organization: SendOrder['organization']
  /** The file's name, for people. */
  readonly file: string
  /** ISO 8601. */
  readonly orderedAt: string
  readonly rows: readonly SendBatchRow[]
}

export interface SendBatchRow {
  /** Line in the file. */
  readonly line: number
  readonly order: SendOrder
  /** Why it is not sent with the others: the policies would have denied it. */
  readonly leftOut?: string
}

/** A row and how its send stands. */
export interface RowStand {
  readonly row: SendBatchRow
  readonly sendId: string
  readonly state: RowState
  readonly progress?: SendProgress
}

/** `taken`: its reference stands for another send, which was ordered first. */
export type RowState = SendProgress['state'] | 'not begun' | 'left out' | 'taken'

/** How many rows are in which state. */
export type SendBatchCounts = Readonly<Partial<Record<RowState | FailedHow, number>>>

/** The progress of a batch; its workflow's query answer and its result. */
export interface SendBatchProgress {
  readonly batchId: string
  readonly counts: SendBatchCounts
  /** Every row that is to be begun has been submitted or has ended. */
  readonly submitted: boolean
  /** How often it was asked about all, and nothing was new. */
  readonly quiet: number
  /** Nothing is left to do. */
  readonly over: boolean
  /** Nothing more is begun, because one failed or somebody stopped it. */
  readonly stopped: boolean
  /** Why it could not go on; its sends do by themselves, and the same file takes them up again. */
  readonly error?: Failure
}

/** A send of a batch, for its workflow. */
export interface BatchedSend {
  readonly sendId: string
  readonly reference: string
}

/** The news of one send that its batch passes on. */
export interface SendNews {
  readonly activity?: SendActivityState
  readonly transaction?: TransactionState
}
