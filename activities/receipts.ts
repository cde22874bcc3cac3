import type { QueryClient } from '../src/client/index.ts'
import type { Wire } from '../src/protocol/index.ts'
import type { SendOrder, TransactionReceipt, TransactionState } from './send-model.ts'

/** Newer ones of the same account that may have been included meanwhile. */
const paginationOptions = { limit: '20' }

type Item = Pick<Wire.EthTransactionHistoryItem, 'block' | 'fee'> & {
  readonly hash: string
  readonly transfers?: readonly Wire.TransactionHistoryTransfer[]
}
type ReadHistory = (client: QueryClient, parameters: never) => Promise<readonly Item[]>

/** How the history of who pays is read, by the type of the send. */
const histories = {
  async ACTIVITY_TYPE_ETH_SEND_TRANSACTION(client, { from: address, caip2 }: Wire.EthSendTransactionIntent) {
    const asked = { address, caip2: caip2 as never, paginationOptions }
    const { transactions } = await client.query('list_eth_transaction_history', asked)
    return transactions.map(({ transactionHash: hash, block, fee, transfers }) => ({ hash, block, fee, transfers }))
  },
  async ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2(client, { signWiths, caip2 }: Wire.SolSendTransactionIntentV2) {
    const asked = { address: signWiths[0]!, caip2: caip2 as never, paginationOptions }
    const { transactions } = await client.query('list_sol_transaction_history', asked)
    return transactions.map(({ signature: hash, block, fee }) => ({ hash, block, fee }))
  },
} as const satisfies Record<SendOrder['type'], ReadHistory>

/**
 * Reads in which block a transaction is, and what its fee was. It is a service and no condition: nothing where the API has no
 * history, or not this one's yet.
 */
export async function readReceipt(
  client: QueryClient,
  { type, parameters }: Pick<SendOrder, 'type' | 'parameters'>,
  { transactionHash }: TransactionState,
): Promise<TransactionReceipt | undefined> {
  if (transactionHash === undefined) return undefined
  const read: ReadHistory = histories[type]
  const items = await read(client, parameters as never).catch((): readonly Item[] => [])
  const found = items.find(({ hash }) => hash === transactionHash)
  const isNumber = (text: string) => /^\d{1,78}$/.test(text)
  if (found === undefined || !isNumber(found.block.number) || !isNumber(found.fee.amount)) return undefined
  return { block: found.block.number, fee: found.fee }
}
