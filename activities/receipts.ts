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

/** What the API's history tells of a transaction. */
export interface ReadReceipt {
  /** In which block it is, and what its fee was; nothing where the API has no history, or not this one's yet. */
  readonly receipt?: TransactionReceipt
  /** It was to transfer a token, and the history tells of no such transfer. Never said without a receipt. */
  readonly movesNothing: boolean
}

/** Reads what the history of who pays tells of a transaction. It is a service and no condition. */
export async function readReceipt(
  client: QueryClient,
  { type, parameters }: Pick<SendOrder, 'type' | 'parameters'>,
  { transactionHash }: TransactionState,
): Promise<ReadReceipt> {
  const unknown = { movesNothing: false }
  if (transactionHash === undefined) return unknown
  const read: ReadHistory = histories[type]
  const items = await read(client, parameters as never).catch((): readonly Item[] => [])
  const found = items.find(({ hash }) => hash === transactionHash)
  const isNumber = (text: string) => /^\d{1,78}$/.test(text)
  if (found === undefined || !isNumber(found.block.number) || !isNumber(found.fee.amount)) return unknown
  const receipt = { block: found.block.number, fee: found.fee }
  return { receipt, movesNothing: isTransferMissing(parameters as Wire.EthSendTransactionIntent, found) }
}

/** `transfer(address,uint256)` of a token (EIP-20), and its receiver. */
const TRANSFER = /^0xa9059cbb0{24}([0-9a-f]{40})[0-9a-f]{64}$/i

/** Whether a send transfers a token, on Ethereum. */
export function isTokenTransfer({ parameters }: Pick<SendOrder, 'parameters'>): boolean {
  return TRANSFER.test((parameters as Partial<Wire.EthSendTransactionIntent>).data ?? '')
}

/**
 * Whether a token's `Transfer` is not among what the history tells. The amount is not compared: some tokens keep a part. One to
 * the payer itself moves nothing by right, and no history tells of it.
 */
function isTransferMissing({ data, from, to }: Wire.EthSendTransactionIntent, { transfers }: Item): boolean {
  const [, receiver] = TRANSFER.exec(data ?? '') ?? []
  if (receiver === undefined || transfers === undefined || isEqual(`0x${receiver}`, from)) return false
  return !transfers.some(({ direction, counterparty, asset }) => {
    const isOfToken = asset === undefined || isEqual(asset.caip19.split(':').at(-1)!, to)
    return direction === 'OUT' && isEqual(counterparty, `0x${receiver}`) && isOfToken
  })
}

const isEqual = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
