import { printDecimal } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { ChainAsset } from '../chains/index.ts'
import type { SendRow } from '../resources/sends/store.ts'

/** A send that is in a block, and what the service knows of it. */
export interface SentTransaction {
  readonly send: SendRow
  readonly fingerprint: string | undefined
  readonly sponsored: boolean
}

/** The origin of a transaction in a history. */
export function turnkeyOf({ send, fingerprint, sponsored }: SentTransaction): Wire.TransactionHistoryTurnkey {
  return {
    sponsored,
    ...(fingerprint === undefined ? {} : { activityFingerprint: fingerprint }),
    submittedAt: toRfc3339(send.created_at),
  }
}

/** In whole seconds. */
export function toRfc3339(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** What moved between an address and another. Tokens that say no symbol and no name of themselves have empty ones. */
export function toTransfer(
  direction: 'IN' | 'OUT',
  counterparty: string,
  amount: bigint,
  asset: ChainAsset | undefined,
): Wire.TransactionHistoryTransfer {
  const transfer = { direction, amount: amount.toString(), counterparty }
  if (asset === undefined) return transfer
  const { caip19, symbol = '', name = '', decimals } = asset
  return { ...transfer, asset: { caip19, symbol, name, decimals }, display: { crypto: printDecimal(amount, decimals) } }
}
