/**
 * What a block of an Ethereum chain has changed: transfers of the currency by transactions themselves, and those of tokens by
 * their `Transfer` (EIP-20). What a contract sends on of the currency leaves no trace in a block, and is not seen.
 */
import { type Chain, currencyOf } from '../chains/index.ts'
import { createEthereumNode, type EthereumBlock } from '../nodes/index.ts'
import type { BalanceChange, OwnedAddress } from '../resources/balances/store.ts'

/** One movement of an asset between two addresses, in lower case. */
export interface Transfer {
  readonly txHash: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly asset: Omit<BalanceChange['asset'], 'amount'>
}

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Reads the movements in a block, whether or not their transactions have succeeded. Throws as `ChainNode` does. */
export async function readTransfers(chain: Chain, block: EthereumBlock): Promise<readonly Transfer[]> {
  const currency = currencyOf(chain.caip2)
  const transfers: Transfer[] = []
  for (const { hash: txHash, from, to, value: amount } of currency ? block.transactions : []) {
    if (to !== null && amount > 0n) transfers.push({ txHash, from, to, amount, asset: currency! })
  }
  if (chain.tokens.length === 0) return transfers
  const logs = await createEthereumNode(chain.node).logsOf(block.hash, chain.tokens, TRANSFER)
  for (const { address, topics, data, transactionHash: txHash } of logs) {
    // EIP-721 has the same event with a fourth topic.
    if (topics.length !== 3 || !/^0x[0-9a-f]{64}$/i.test(data)) continue
    const asset = await chain.assets.find(address)
    const amount = BigInt(data)
    if (!asset || amount === 0n) continue
    const [from, to] = [topics[1]!, topics[2]!].map((topic) => `0x${topic.slice(-40)}`) as [string, string]
    transfers.push({ txHash, from, to, amount, asset })
  }
  return transfers
}

/** Says of each movement what it has changed for whom; several of one asset of one address in one transaction are one change. */
export function changesOf(
  caip2: string,
  block: EthereumBlock,
  transfers: readonly Transfer[],
  owned: ReadonlyMap<string, readonly OwnedAddress[]>,
): readonly BalanceChange[] {
  const changes = new Map<string, BalanceChange>()
  const timestamp = `${new Date(block.timestamp * 1_000).toISOString().slice(0, 19)}Z`
  const at = { number: block.number, hash: block.hash, timestamp }
  for (const { txHash, from, to, amount, asset } of transfers) {
    for (const [operation, one] of [
      ['withdraw', from],
      ['deposit', to],
    ] as const) {
      for (const { organization_id: organizationId, address } of owned.get(one) ?? []) {
        const key = JSON.stringify([txHash, operation, address, organizationId, asset.caip19])
        const before = BigInt(changes.get(key)?.asset.amount ?? 0)
        const sum = { ...asset, amount: String(before + amount) }
        changes.set(key, { organizationId, caip2, operation, txHash, address, asset: sum, block: at })
      }
    }
  }
  return [...changes.values()]
}
