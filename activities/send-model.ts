import { readSolanaDraft, solanaSendBytes, withSolanaFee } from '../src/chain/index.ts'
import { canonicalJson } from '../src/encoding/index.ts'
import type { Plan } from '../src/plan/index.ts'
import type { Json, JsonObject } from '../src/protocol/index.ts'
import type { ActingUser } from './acting-user.ts'
import type { ActivityState, Failure } from './model.ts'

/** The order of a send. It never changes, so that its reference means one send for ever. */
export interface SendOrder {
  readonly reference: string
  readonly organization: Plan['organization']
  /** An activity type and its parameters, as they go into the body. */
  readonly type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION' | 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2'
  readonly parameters: Json
  /** For people: names beside addresses, the amount in its unit. */
  readonly from: string
  readonly to: string
  readonly amount: string
  /** The reference of the send that it replaces. */
  readonly replaces?: string
  /** ISO 8601. */
  readonly orderedAt: string
  /** Who ordered it, as whom alone it is submitted and approved. Absent in orders of old versions: any worker's key does. */
  readonly by?: ActingUser
  /** The time in the body with which another machine has submitted what has this reference, milliseconds since the epoch. */
  readonly bodyTimeMs?: number
  /** How often what has this reference was asked for again after a rejection. @default 0 */
  readonly round?: number
  /** Where nobody said the fee: what its `maxFeePerGas`, or on Solana its compute budget, follows from. */
  readonly feeCeiling?: FeeCeiling
}

/** Where the most that is offered comes from: recent blocks by a node of one's own, or the cap of the chain. */
export interface FeeCeiling {
  readonly by: 'blocks' | 'cap'
  /** How many times what recent blocks took. */
  readonly times?: number
  /** Whatever the blocks say, a unit of gas is never offered more than this, in wei. */
  readonly capWei?: string
  /** The same on Solana for all of the fee, in lamports. */
  readonly capLamports?: string
}

/** The progress of a send; its workflow's query answer and, at the end, its result. */
export interface SendProgress {
  readonly sendId: string
  readonly reference: string
  /**
   * The last five never change. Of what is `stopped` nothing was submitted, of what is `given up` nothing was broadcast: its
   * reference is free to be sent again.
   */
  readonly state:
    | 'submitting'
    | 'waiting'
    | 'broadcasting'
    | 'included'
    | 'failed'
    | 'rejected'
    | 'given up'
    | 'stopped'
  readonly activityId?: string
  readonly fingerprint?: string
  /** When its activity was submitted, ISO 8601. */
  readonly since?: string
  /** Names of the users whose approvals count now. */
  readonly approved?: readonly string[]
  /** Names of those whose approvals count no more, where somebody has looked since they lapsed: they are to vote again. */
  readonly lapsed?: readonly string[]
  readonly sendTransactionStatusId?: string
  /** On Solana its signature. */
  readonly transactionHash?: string
  readonly receipt?: TransactionReceipt
  /** Why it failed, or what its next try waits for. */
  readonly error?: Failure
}

/** The receipt of a transaction, as far as the API tells. */
export interface TransactionReceipt {
  /** Number of its block; on Solana the slot. */
  readonly block: string
  /** In the smallest unit of what it was paid in. */
  readonly fee: { readonly amount: string; readonly caip19: string }
}

/** The activity of a send, and what it brought when it completed. */
export interface SendActivityState extends ActivityState {
  readonly sendTransactionStatusId?: string
}

/** What a send's activity tells of its progress: one that is completed is a transaction that has been accepted. */
export function progressIn({ state, needsVote: _, produced: __, lapsed: ___, ...told }: SendActivityState) {
  return { ...told, state: state === 'completed' ? 'broadcasting' : state } as const
}

/** The API's state of a transaction. */
export interface TransactionState extends Pick<SendProgress, 'activityId' | 'fingerprint' | 'sendTransactionStatusId'> {
  readonly state: 'broadcasting' | 'included' | 'failed' | 'given up'
  readonly transactionHash?: string
  readonly receipt?: TransactionReceipt
  readonly error?: Failure
}

/**
 * Whether an order asks for what its reference was begun with: a fee that nobody says now is the one that it was begun with, whether
 * somebody said that or not.
 */
export function isSameSend(begun: SendOrder, order: SendOrder): boolean {
  const sent = ({ type, parameters }: SendOrder) => canonicalJson({ type, parameters })
  if (sent(begun) === sent(order)) return true
  return isFeeUnsaid(order) && sent(withoutFee(begun)) === sent(withoutFee(order))
}

/** An order as it was asked for: without the ceiling that it was given. */
export function withoutFeeCeiling(order: SendOrder): SendOrder {
  return order.feeCeiling === undefined ? order : withoutFee(order)
}

function withoutFee(order: SendOrder): SendOrder {
  const { feeCeiling: _, parameters, ...rest } = order
  const { maxFeePerGas: __, ...asked } = parameters as JsonObject
  const { unsignedTransaction } = asked
  if (typeof unsignedTransaction !== 'string') return { ...rest, parameters: asked }
  return { ...rest, parameters: { ...asked, unsignedTransaction: withSolanaFee(unsignedTransaction, undefined) } }
}

function isFeeUnsaid({ feeCeiling, parameters }: SendOrder): boolean {
  if (feeCeiling !== undefined) return true
  const { unsignedTransaction, maxFeePerGas } = parameters as JsonObject
  if (typeof unsignedTransaction !== 'string') return maxFeePerGas === undefined
  return readSolanaDraft(solanaSendBytes(parameters as never)).budget.unitPrice === undefined
}

/** How a send has failed, where that has a word of its own: in a block, by another transaction, or before anything was broadcast. */
export type FailedHow = 'reverted' | 'replaced' | 'denied'

/** Says how a send has failed; undefined where it has not, or for another reason. */
export function failedHow(progress: Pick<SendProgress, 'state' | 'error'> | undefined): FailedHow | undefined {
  return progress?.state === 'failed' ? FAILED_HOW[progress.error?.code ?? ''] : undefined
}

const FAILED_HOW: Readonly<Record<string, FailedHow>> = {
  'apply/transaction-reverted': 'reverted',
  'apply/transaction-replaced': 'replaced',
  'client/denied': 'denied',
}

/** Whether nothing more will come of a send by itself. */
export function isSendOver(state: SendProgress['state']): boolean {
  return OVER.has(state)
}

const OVER: ReadonlySet<SendProgress['state']> = new Set(['included', 'failed', 'rejected', 'given up', 'stopped'])
