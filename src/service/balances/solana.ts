/**
 * Balance changes on a Solana cluster: what the accounts of a block's transactions had before and have after, of SOL and of the
 * tokens that the chain is set to look at, whatever moved them. Blocks are followed once they are confirmed. A transaction's fee is
 * no withdrawal, as it is none on Ethereum; one that failed moves nothing else.
 */
import { type Chain, currencyOf } from '../chains/index.ts'
import { createSolanaNode, otherCluster, type SolanaBlock, type SolanaBlockTransaction } from '../nodes/index.ts'
import { type AssetMovement, type FollowedChain, toChanges } from './followed-chain.ts'

/**
 * A block, and up to which slot all was final before it was read. INVARIANT: what is asked after it may be final on another way,
 * which this block is no part of.
 */
type BlockAndFinal = SolanaBlock & { readonly finalSlot: number }

/** Follows a Solana cluster. */
export function followSolana(chain: Chain): FollowedChain<BlockAndFinal> {
  const { caip2 } = chain
  const node = createSolanaNode(chain.node)
  return {
    otherServed: async () => otherCluster(caip2, await node.genesisHash()),
    latest: () => node.slot('confirmed'),
    finalAt: async ({ finalSlot }) => finalSlot,
    headOf: (slot) => node.blockHead(slot),
    async nextAfter(slot) {
      const next = await node.nextBlockSlot(slot)
      if (next === undefined) return undefined
      const finalSlot = await node.slot('finalized')
      const block = await node.block(next)
      return block && { ...block, finalSlot }
    },
    async changesIn(block, findOwners) {
      const succeeded = block.transactions.filter(({ failed }) => !failed)
      const found = await findOwners([...new Set(succeeded.flatMap(addressesIn))])
      const owned = Map.groupBy(found, ({ address }) => address)
      const movements: AssetMovement[] = []
      for (const transaction of succeeded) movements.push(...(await movementsIn(chain, transaction, owned)))
      return toChanges(caip2, block, movements, (address) => owned.get(address) ?? [])
    },
  }
}

function addressesIn({ lamports, tokens }: SolanaBlockTransaction): readonly string[] {
  return [...lamports.keys(), ...tokens.map(({ owner }) => owner)]
}

/** What a transaction has moved of the addresses that somebody owns. */
async function movementsIn(
  chain: Chain,
  { signature: txHash, fee, payer, lamports, tokens }: SolanaBlockTransaction,
  owned: ReadonlyMap<string, unknown>,
): Promise<readonly AssetMovement[]> {
  const movements: AssetMovement[] = []
  const add = (address: string, moved: bigint, asset: AssetMovement['asset']) => {
    if (moved === 0n) return
    const [operation, amount] = moved > 0n ? (['deposit', moved] as const) : (['withdraw', -moved] as const)
    movements.push({ txHash, operation, address, amount, asset })
  }
  const currency = currencyOf(chain.caip2)!
  for (const [address, moved] of lamports) {
    if (owned.has(address)) add(address, address === payer ? moved + fee : moved, currency)
  }
  for (const { owner, mint, moved } of tokens) {
    if (!(owned.has(owner) && chain.tokens.includes(mint))) continue
    const asset = await chain.assets.find(mint)
    if (asset) add(owner, moved, asset)
  }
  return movements
}
