import type { QueryClient } from '../src/client/index.ts'
import type { Wire } from '../src/protocol/index.ts'
import type { SendOrder, TransactionReceipt, TransactionState } from './send-model.ts'

/** Newer ones of the same account that may have been included meanwhile. */
const LATEST = '20'

/**
 * Reads in which block a payment on Solana is, and what its fee was, from the history of who pays. It is a service and no
 * condition: nothing where the API has no history, or not this one's yet.
 */
export async function readReceipt(
  client: QueryClient,
  { type, parameters }: Pick<SendOrder, 'type' | 'parameters'>,
  { transactionHash }: TransactionState,
): Promise<TransactionReceipt | undefined> {
  if (type !== 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2' || transactionHash === undefined) return undefined
  const { signWiths, caip2 } = parameters as unknown as Wire.SolSendTransactionIntentV2
  const asked = { address: signWiths[0]!, caip2: caip2 as never, paginationOptions: { limit: LATEST } }
  const { transactions } = await client
    .query('list_sol_transaction_history', asked)
    .catch(() => ({ transactions: [] as Wire.SolTransactionHistoryItem[] }))
  const found = transactions.find(({ signature }) => signature === transactionHash)
  const isNumber = (text: string) => /^\d{1,78}$/.test(text)
  if (found === undefined || !isNumber(found.block.number) || !isNumber(found.fee.amount)) return undefined
  return { block: found.block.number, fee: found.fee }
}
