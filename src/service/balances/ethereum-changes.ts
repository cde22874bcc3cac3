/**
 * Balance changes in a block of an Ethereum chain: transfers of the currency by transactions themselves, and transfers of tokens
 * by their `Transfer` logs (EIP-20). Currency that a contract sends on leaves no trace in a block, and is not seen.
 */
import { type Chain, currencyOf } from '../chains/index.ts'
import { createEthereumNode, type EthereumBlock, readTokenTransfer, TRANSFER_TOPIC } from '../nodes/index.ts'
import type { BalanceChange, HeldAddress } from '../resources/balances/store.ts'

/** One movement of an asset between two addresses, in lower case. */
export interface AssetMovement {
  readonly txHash: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly asset: Omit<BalanceChange['asset'], 'amount'>
}

/** Reads the movements in a block, whether or not their transactions have succeeded. Throws as `ChainNode` does. */
export async function readTransfers(chain: Chain, block: EthereumBlock): Promise<readonly AssetMovement[]> {
  const currency = currencyOf(chain.caip2)
  const transfers: AssetMovement[] = []
  for (const { hash: txHash, from, to, value: amount } of currency ? block.transactions : []) {
    if (to !== null && amount > 0n) transfers.push({ txHash, from, to, amount, asset: currency! })
  }
  if (chain.tokens.length === 0) return transfers
  const logs = await createEthereumNode(chain.node).logsOf(block.hash, chain.tokens, TRANSFER_TOPIC)
  for (const log of logs) {
    const moved = readTokenTransfer(log)
    const asset = moved && (await chain.assets.find(moved.token))
    if (!asset || moved.amount === 0n) continue
    const { from, to, amount } = moved
    transfers.push({ txHash: log.transactionHash, from, to, amount, asset })
  }
  return transfers
}

/** Turns movements into the changes of owned addresses; several movements of one asset of one address in one transaction are one change. */
export function changesOf(
  caip2: string,
  block: EthereumBlock,
  transfers: readonly AssetMovement[],
  owned: ReadonlyMap<string, readonly HeldAddress[]>,
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
