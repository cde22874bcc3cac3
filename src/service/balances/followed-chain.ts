import type { BalanceChange, HeldAddress } from '../resources/balances/store.ts'

/** What tells a block from every other, and when it was made. */
export interface BlockHead {
  /** Of Solana, the slot. */
  readonly number: number
  readonly hash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

/** A block after which another one comes. */
export interface FollowedBlock extends BlockHead {
  readonly parentHash: string
}

/** A chain as watching its balances needs it. Each function throws as `ChainNode` does. */
export interface FollowedChain<Block extends FollowedBlock = FollowedBlock> {
  /** Says that the node serves another chain. */
  otherServed(): Promise<string | undefined>
  /** The number of the newest block. */
  latest(): Promise<number>
  /** The number up to which all is final where a block is the newest. */
  finalAt(block: Block): Promise<number>
  /** The block of a number; `none` where the chain has none of it, undefined where the node does not have it yet. */
  headOf(number: number): Promise<BlockHead | 'none' | undefined>
  /** The first block after a number; undefined where the node has none yet. */
  nextAfter(number: number): Promise<Block | undefined>
  /** What a block has changed of the assets of addresses that somebody owns. */
  changesIn(block: Block, findOwners: FindOwners): Promise<readonly BalanceChange[]>
}

/** Finds whose wallets have some addresses of this chain. */
export type FindOwners = (addresses: readonly string[]) => Promise<readonly HeldAddress[]>

/** One movement of an asset into an address or out of it. */
export interface AssetMovement {
  readonly txHash: string
  readonly operation: BalanceChange['operation']
  readonly address: string
  readonly amount: bigint
  readonly asset: Omit<BalanceChange['asset'], 'amount'>
}

/** Turns movements into the changes of their owners; several of one asset of one address in one transaction are one change. */
export function toChanges(
  caip2: string,
  { number, hash, timestamp }: BlockHead,
  movements: readonly AssetMovement[],
  ownersOf: (address: string) => readonly HeldAddress[],
): readonly BalanceChange[] {
  const changes = new Map<string, BalanceChange>()
  const block = { number, hash, timestamp: `${new Date(timestamp * 1_000).toISOString().slice(0, 19)}Z` }
  for (const { txHash, operation, address: moved, amount, asset } of movements) {
    for (const { organization_id: organizationId, address } of ownersOf(moved)) {
      const key = JSON.stringify([txHash, operation, address, organizationId, asset.caip19])
      const before = BigInt(changes.get(key)?.asset.amount ?? 0)
      const sum = { ...asset, amount: String(before + amount) }
      changes.set(key, { organizationId, caip2, operation, txHash, address, asset: sum, block })
    }
  }
  return [...changes.values()]
}
