/**
 * The history of an address on an Ethereum chain: what this service has sent for it, as the chain's node has it now. It is
 * not all that ever happened: a node has no index of addresses, so what others have sent, and what came in by it, is not in
 * here.
 */
import type { Wire } from '../../protocol/index.ts'
import type { Asset } from '../assets/currency.ts'
import { isFinal } from '../assets/finality.ts'
import type { Chain } from '../sends/chains.ts'
import { createEthereumNode } from '../sends/ethereum.ts'
import { type SentTransaction, toRfc3339, toTransfer, turnkeyOf } from './sent.ts'

interface RpcLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

interface RpcTransaction {
  readonly value: string
}

interface RpcReceipt {
  readonly blockNumber: string
  readonly blockHash: string
  readonly from: string
  readonly to: string | null
  readonly contractAddress: string | null
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  /** What a rollup takes for the chain beneath it (OP stack), besides the gas. */
  readonly l1Fee?: string
  readonly logs: readonly RpcLog[]
}

/** keccak256 of `Transfer(address,address,uint256)` (EIP-20). Two of its arguments are topics; a third is another standard's. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

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
  }: { readonly address: string; readonly currency: Asset; readonly sent: readonly SentTransaction[] },
): Promise<Wire.EthTransactionHistoryItem[]> {
  const { node } = chain
  const latest = await createEthereumNode(node).blockNumber()
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
      node.request<RpcReceipt | null>('eth_getTransactionReceipt', [send.hash]),
    ])
    if (transaction === null || receipt === null) return []
    const number = BigInt(receipt.blockNumber)
    const item: Wire.EthTransactionHistoryItem = {
      transactionHash: send.hash!,
      block: { number: number.toString(), hash: receipt.blockHash, timestamp: await timeOf(receipt.blockHash) },
      status: isFinal(chain.caip2, { number, latest }) ? 'FINALIZED' : 'CONFIRMED',
      origin: 'TURNKEY',
      from: receipt.from,
      ...(receipt.to === null ? {} : { to: receipt.to }),
      fee: { amount: feeOf(receipt).toString(), caip19: currency.caip19 },
      transfers: [
        ...currencyTransfers(transaction, receipt, { address, currency }),
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

function feeOf({ gasUsed, effectiveGasPrice, l1Fee = '0x0' }: RpcReceipt): bigint {
  return BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee)
}

/** What it moved out of the address by itself; nothing where it was reverted. */
function currencyTransfers(
  { value }: RpcTransaction,
  { status, from, to, contractAddress }: RpcReceipt,
  { address, currency }: { readonly address: string; readonly currency: Asset },
): Wire.TransactionHistoryTransfer[] {
  const counterparty = to ?? contractAddress
  const moves = BigInt(status) === 1n && BigInt(value) > 0n && from === address
  return moves && counterparty !== null && counterparty !== address
    ? [toTransfer('OUT', counterparty, BigInt(value), currency)]
    : []
}

/** What its logs say that tokens have moved, to the address or from it. */
async function tokenTransfers(
  chain: Chain,
  { logs }: RpcReceipt,
  address: string,
): Promise<Wire.TransactionHistoryTransfer[]> {
  const moved = logs.flatMap(({ address: token, topics, data }) => {
    const [event, from, to, more] = topics
    if (event !== TRANSFER || from === undefined || to === undefined || more !== undefined || data.length !== 66)
      return []
    const [sender, receiver] = [addressOf(from), addressOf(to)]
    if (sender === receiver || (sender !== address && receiver !== address)) return []
    const direction = sender === address ? 'OUT' : 'IN'
    return [{ token, direction, counterparty: direction === 'OUT' ? receiver : sender, amount: BigInt(data) } as const]
  })
  return Promise.all(
    moved.map(async ({ token, direction, counterparty, amount }) =>
      toTransfer(direction, counterparty, amount, await chain.assets.find(token)),
    ),
  )
}

function addressOf(topic: string): string {
  return `0x${topic.slice(-40)}`
}
