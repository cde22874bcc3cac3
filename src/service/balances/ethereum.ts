/**
 * Balance changes on an Ethereum chain: transfers of the currency by transactions themselves, and transfers of tokens by their
 * `Transfer` logs (EIP-20). Currency that a contract sends on leaves no trace in a block, and is not seen.
 */
import { type Chain, currencyOf, lastFinal } from '../chains/index.ts'
import {
  createEthereumNode,
  type EthereumBlock,
  NodeUnreachable,
  otherChain,
  readTokenTransfer,
  TRANSFER_TOPIC,
} from '../nodes/index.ts'
import { type AssetMovement, type FollowedChain, toChanges } from './followed-chain.ts'

/** A movement between two addresses, in lower case. */
type Transfer = Omit<AssetMovement, 'operation' | 'address'> & { readonly from: string; readonly to: string }

/** Follows an Ethereum chain. */
export function followEthereum(chain: Chain): FollowedChain<EthereumBlock> {
  const { caip2 } = chain
  const node = createEthereumNode(chain.node)
  return {
    otherServed: async () => otherChain(caip2, await node.chainId()),
    latest: async () => Number(await node.blockNumber()),
    finalAt: async ({ number }) => Number(lastFinal(chain, BigInt(number))),
    headOf: (number) => node.blockHead(BigInt(number)),
    nextAfter: (number) => node.wholeBlock(BigInt(number + 1)),
    async changesIn(block, findOwners) {
      const transfers = await readTransfers(chain, block)
      const found = await findOwners([...new Set(transfers.flatMap(({ from, to }) => [from, to]))])
      const owned = Map.groupBy(found, ({ address }) => address.toLowerCase())
      const ours = transfers.filter(({ from, to }) => owned.has(from) || owned.has(to))
      const succeeded = new Set<string>()
      for (const txHash of new Set(ours.map((each) => each.txHash))) {
        const receipt = await node.receipt(txHash)
        if (receipt?.blockHash !== block.hash) {
          throw new NodeUnreachable(`the node has block ${block.hash} without the receipt of ${txHash}`)
        }
        if (receipt.succeeded) succeeded.add(txHash)
      }
      const movements = ours
        .filter(({ txHash }) => succeeded.has(txHash))
        .flatMap(({ from, to, ...moved }) => [
          { ...moved, operation: 'withdraw' as const, address: from },
          { ...moved, operation: 'deposit' as const, address: to },
        ])
      return toChanges(caip2, block, movements, (address) => owned.get(address) ?? [])
    },
  }
}

/** Reads the movements in a block, whether or not their transactions have succeeded. */
async function readTransfers(chain: Chain, block: EthereumBlock): Promise<readonly Transfer[]> {
  const currency = currencyOf(chain.caip2)
  const transfers: Transfer[] = []
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
