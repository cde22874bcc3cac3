/** A family of chains for the sender: how a send is handed over, and how broadcast sends are watched. */

import type { Wire } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Chain } from '../chains/index.ts'
import type { Sealing } from '../keys/index.ts'
import type { Outbox } from '../outbox/index.ts'
import { type SendAttemptRow, type SendRow, updateSend, updateUnsettled } from '../resources/sends/store.ts'
import { type Database, lockOrganization, type Transaction } from '../store/index.ts'

export interface SendTools {
  readonly database: Database
  readonly sealing: Sealing
  readonly clock: () => number
  readonly logger: Logger
  readonly outbox: Pick<Outbox, 'record' | 'wake'>
  /** Told of a send that has come to its end, once that is on disk. */
  readonly onEnd?: ((end: SendEnd) => void) | undefined
}

/** What noting a change takes. */
type WritingTools = Pick<SendTools, 'database' | 'clock' | 'outbox' | 'onEnd'>

/** The end of a send: included in a settled block, included there and reverted, or failed. */
export type SendEnd = 'included' | 'reverted' | 'failed'

/**
 * The result of handing a send to a node. `broadcasting`: a node has it; `failed`: it will never be sent; `later` and `waits`: it is tried
 * again at the next turn, and until then the sends after it in its lane wait too (`later`) or go on (`waits`).
 */
export type Handover = 'broadcasting' | 'failed' | 'later' | 'waits'

/** A signed form of a send, or why it can never be signed. */
export type CompletedSend = { readonly attempt: SendAttemptRow } | { readonly failure: Wire.TxError }

/** How sends are carried out on one chain. Its functions throw `NodeUnreachable` if they ask a node in vain. */
export interface ChainFamily {
  /** How many sends of one address may be broadcast and not yet included. */
  readonly maxInFlight: number
  /** Whether a send must not be handed over before those that were accepted before it. */
  readonly inOrder: boolean
  /** Completes and signs a send for the first time, and keeps what was signed; or says that it cannot be yet. */
  complete(row: SendRow): Promise<CompletedSend | 'later' | 'waits'>
  /** Hands a signed form over, and notes what became of it; `again` where a node may have it already. */
  handOver(row: SendRow, attempt: SendAttemptRow, how: { readonly again: boolean }): Promise<Handover>
  /** Whether a send takes the place of one that flies, and so needs none of its own. */
  replaces?(row: SendRow, flying: readonly SendRow[]): boolean
  /** Looks once at the sends of one address that are BROADCASTING. */
  look(sender: string, flying: readonly SendRow[]): Promise<void>
  /** Looks once at the sends of one address that are INCLUDED in blocks which the chain may still take back. */
  lookBack?(sender: string, included: readonly SendRow[]): Promise<void>
}

export type CreateChainFamily = (tools: SendTools, chain: Chain) => ChainFamily

/**
 * Notes what became of a send that is open. A status changes here and in `reopenSend` alone.
 * @param also is written in the same transaction, before it
 */
export async function changeSend(
  tools: WritingTools,
  row: SendRow,
  columns: Partial<Pick<SendRow, 'status' | 'nonce' | 'hash' | 'failure' | 'unsettled_block'>>,
  also?: (tx: Transaction) => Promise<void>,
): Promise<void> {
  await writeAndTell(tools, row, { ...columns, updated_at: tools.clock() }, async (tx, change) => {
    await also?.(tx)
    return updateSend(tx, row, change)
  })
}

/** Writes a change of a send and, with it, the event of its status where that is another one; counts it where it is the end. */
async function writeAndTell<Change extends Partial<SendRow>>(
  { database, outbox, onEnd }: Pick<SendTools, 'database' | 'outbox' | 'onEnd'>,
  row: SendRow,
  change: Change,
  write: (tx: Transaction, change: Change) => Promise<boolean>,
): Promise<void> {
  const after = { ...row, ...change }
  const { isChanged, isTold } = await database.write(async (tx) => {
    await lockOrganization(tx, row.organization_id)
    const isChanged = await write(tx, change)
    const isNews = isChanged && after.status !== row.status
    return { isChanged, isTold: isNews && (await outbox.record(tx, 'SEND_TRANSACTION_STATUS_UPDATES', after)) }
  })
  if (isTold) outbox.wake()
  const end = isChanged ? endOf(after) : undefined
  if (end !== undefined) onEnd?.(end)
}

function endOf({ status, failure, unsettled_block }: SendRow): SendEnd | undefined {
  if (status === 'FAILED') return 'failed'
  if (status !== 'INCLUDED' || unsettled_block !== null) return undefined
  return failure === null ? 'included' : 'reverted'
}

/** Notes what an open send waits for, for those who ask where it stands. */
export async function noteWait(tools: SendTools, row: SendRow, reason: string): Promise<void> {
  const failure = JSON.stringify({ message: reason } satisfies Wire.TxError)
  if (row.failure !== failure) await changeSend(tools, row, { failure })
}

/** Notes that the block of a send is settled: nothing changes the send any more. */
export async function settleSend(tools: WritingTools, row: SendRow): Promise<void> {
  await writeAndTell(tools, row, { unsettled_block: null, updated_at: tools.clock() }, (tx, settled) =>
    updateUnsettled(tx, row, settled),
  )
}

/** Notes what the chain has made of a send that was in a block: it is open again. */
export async function reopenSend(tools: WritingTools, row: SendRow): Promise<void> {
  const change = { status: 'BROADCASTING', failure: null, unsettled_block: null, updated_at: tools.clock() } as const
  await writeAndTell(tools, row, change, (tx, opened) => updateUnsettled(tx, row, opened))
}
