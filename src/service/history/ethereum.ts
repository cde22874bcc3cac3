/**
 * The history of an address on an Ethereum chain: what this service has sent for it, as the chain's node has it now. It is
 * not all that ever happened: a node has no index of addresses, so what others have sent, and what came in by it, is not in
 * here.
 */
import type { Wire } from '../../protocol/index.ts'
import { type Chain, type ChainAsset, isFinal } from '../chains/index.ts'
import { createEthereumNode, type Receipt, readTokenTransfer } from '../nodes/index.ts'
import { readSendRequest } from '../sends/index.ts'
import { type SentTransaction, toRfc3339, toTransfer, turnkeyOf } from './sent.ts'

interface RpcTransaction {
  readonly value: string
}

/**
 * Reads the history's items in the order of the sends. One that the node no longer has, its block having been taken
 * back, is left out. Throws as `ChainNode` does.
 */
export async function readEthereumHistory(
  chain: Chain,
  {
    address,
    currency,
    sent,
  }: { readonly address: string; readonly currency: ChainAsset; readonly sent: readonly SentTransaction[] },
): Promise<Wire.EthTransactionHistoryItem[]> {
  const { node } = chain
  const { blockNumber, receipt: receiptOf } = createEthereumNode(node)
  const latest = await blockNumber()
  const times = new Map<string, Promise<string>>()
  const timeOf = (blockHash: string) => {
    const time = times.get(blockHash) ?? readBlockTime(chain, blockHash)
    times.set(blockHash, time)
    return time
  }
  const items = sent.map(async (each) => {
    const { send } = each
    const [transaction, receipt] = await Promise.all([
      node.request<RpcTransaction | null>('eth_getTransactionByHash', [send.hash]),
      receiptOf(send.hash!),
    ])
    if (transaction === null || receipt === undefined) return []
    const { blockNumber: number } = receipt
    const item: Wire.EthTransactionHistoryItem = {
      transactionHash: send.hash!,
      block: { number: number.toString(), hash: receipt.blockHash, timestamp: await timeOf(receipt.blockHash) },
      status: isFinal(chain, { number, latest }) ? 'FINALIZED' : 'CONFIRMED',
      origin: 'TURNKEY',
      from: receipt.from,
      ...(receipt.to === null ? {} : { to: receipt.to }),
      fee: { amount: receipt.cost.toString(), caip19: currency.caip19 },
      transfers: [
        ...currencyTransfers(each, transaction, receipt, { address, currency }),
        ...(await tokenTransfers(chain, receipt, address)),
      ],
      turnkey: turnkeyOf(each),
    }
    return [item]
  })
  return (await Promise.all(items)).flat()
}

async function readBlockTime({ node }: Chain, hash: string): Promise<string> {
  const block = await node.request<{ readonly timestamp: string }>('eth_getBlockByHash', [hash, false])
  return toRfc3339(Number(BigInt(block.timestamp)) * 1000)
}

/**
 * What it moved of the currency out of the address: its own value, or those of the calls that a gas station made for the
 * account; nothing where it was reverted. What the called move further is not told.
 */
function currencyTransfers(
  { send }: SentTransaction,
  { value }: RpcTransaction,
  { succeeded, from, to, contractAddress }: Receipt,
  { address, currency }: { readonly address: string; readonly currency: ChainAsset },
): Wire.TransactionHistoryTransfer[] {
  if (!succeeded) return []
  const request = readSendRequest(send.request)
  const own = { to: to ?? contractAddress ?? address, value: from === address ? BigInt(value) : 0n }
  const calls = request.kind === 'execution' ? request.calls : [own]
  return calls
    .filter((call) => BigInt(call.value) > 0n && call.to !== address)
    .map((call) => toTransfer('OUT', call.to, BigInt(call.value), currency))
}

/** The token transfers in its logs, to the address or from it. */
async function tokenTransfers(
  chain: Chain,
  { logs }: Receipt,
  address: string,
): Promise<Wire.TransactionHistoryTransfer[]> {
  const moved = logs.flatMap((log) => {
    const transfer = readTokenTransfer(log)
    if (!transfer || transfer.from === transfer.to) return []
    const { token, from, to, amount } = transfer
    if (from !== address && to !== address) return []
    const direction = from === address ? 'OUT' : 'IN'
    return [{ token, direction, counterparty: direction === 'OUT' ? to : from, amount } as const]
  })
  return Promise.all(
    moved.map(async ({ token, direction, counterparty, amount }) =>
      toTransfer(direction, counterparty, amount, await chain.assets.find(token)),
    ),
  )
}
