/**
 * What a Solana node is asked (Solana's documentation, "RPC HTTP methods"). `confirmed`: two thirds of the stake have voted
 * for the block; `finalized`: it can no longer be taken back.
 */
import { decodeBase64 } from '../../encoding/index.ts'
import { type ChainNode, NodeRefusal } from './node.ts'
import { readSolanaBlock, readSolanaHead, type SolanaBlock, type SolanaHead } from './solana-block.ts'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** A transaction's error as nodes give it: a name, or an object with one. */
export type TransactionError = string | Readonly<Record<string, unknown>>

/** The effects of running a transaction, in a simulation or in a block. */
export interface SolanaRun {
  readonly error: TransactionError | null
  readonly logs: readonly string[]
  readonly unitsConsumed?: number | undefined
  readonly innerInstructions?: unknown
  /** Lamports, of one that is in a block. */
  readonly fee?: number
  /** Of one that was tried: the bytes of data of each account that was asked for; none of one that is not there after it. */
  readonly accounts?: readonly (number | undefined)[]
}

export interface SignatureStatus {
  readonly slot: number
  readonly err: TransactionError | null
  readonly confirmationStatus: Commitment
}

/** A transaction that names an address, as the list of them has it. */
export interface SignatureOf extends SignatureStatus {
  readonly signature: string
}

interface InContext<Value> {
  readonly context: { readonly slot: number }
  readonly value: Value
}

/** Agave's codes for a slot that has no block: it was skipped, or the node has no record of one (rpc-client-api, `custom_error`). */
const NO_BLOCK: ReadonlySet<number> = new Set([-32_007, -32_009])
/** Its code for a block that it does not have yet. */
const NOT_YET = -32_004

/** As many transactions of an address as are listed in one answer, and as many answers as are asked for. */
const LISTED_AT_ONCE = 1_000
const MOST_LISTS = 200

/** How many slots are looked over for the next block: more than are ever skipped in a row. */
const MOST_SKIPPED = 500

/** Says that a node serves another cluster than the one it is set for. */
export function otherCluster(caip2: string, genesisHash: string): string | undefined {
  return genesisHash.startsWith(caip2.slice('solana:'.length))
    ? undefined
    : `the node that is set for ${caip2} serves the chain with genesis hash ${genesisHash}`
}

export type SolanaNode = ReturnType<typeof createSolanaNode>

/** Says a Solana node's methods as functions; transactions are in base64. Each throws as `ChainNode` does. */
export function createSolanaNode(node: ChainNode) {
  const confirmed = { commitment: 'confirmed' } as const
  async function blockOf<Block>(
    slot: number,
    transactionDetails: 'none' | 'accounts',
    read: (answer: unknown) => Block,
  ): Promise<Block | 'none' | undefined> {
    const asked = { ...confirmed, transactionDetails, rewards: false, maxSupportedTransactionVersion: 0 }
    try {
      return read(await node.request('getBlock', [slot, asked]))
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      if (NO_BLOCK.has(error.code)) return 'none'
      if (error.code === NOT_YET) return undefined
      throw error
    }
  }
  return {
    genesisHash: () => node.request<string>('getGenesisHash', []),
    async latestBlockhash() {
      const { context, value } = await node.request<
        InContext<{ readonly blockhash: string; readonly lastValidBlockHeight: number }>
      >('getLatestBlockhash', [confirmed])
      return { ...value, slot: context.slot }
    },
    /** Whether a transaction with a blockhash may still be included, as far as the node knows. */
    async isBlockhashValid(blockhash: string): Promise<boolean> {
      const answer = await node.request<InContext<boolean>>('isBlockhashValid', [
        blockhash,
        { commitment: 'processed' },
      ])
      return answer.value
    },
    /** Runs a transaction without its signatures, and tells of the accounts asked for as it would leave them. */
    async simulate(transaction: string, addresses?: readonly string[]): Promise<SolanaRun> {
      const { value } = await node.request<
        InContext<{
          readonly err: TransactionError | null
          readonly logs: readonly string[] | null
          readonly unitsConsumed?: number
          readonly innerInstructions?: unknown
          readonly accounts?:
            | readonly ({ readonly lamports: number; readonly data: readonly [string, string] } | null)[]
            | null
        }>
      >('simulateTransaction', [
        transaction,
        {
          ...confirmed,
          encoding: 'base64',
          sigVerify: false,
          innerInstructions: true,
          ...(addresses === undefined ? {} : { accounts: { encoding: 'base64', addresses } }),
        },
      ])
      const { err: error, logs, unitsConsumed, innerInstructions } = value
      // One that was closed is told of without lamports, or not at all.
      const accounts = value.accounts?.map((each) => (each?.lamports ? decodeBase64(each.data[0]).length : undefined))
      return { error, logs: logs ?? [], unitsConsumed, innerInstructions, ...(accounts && { accounts }) }
    },
    /** The newest slot of a commitment. */
    slot: (commitment: Commitment) => node.request<number>('getSlot', [{ commitment }]),
    /** The slot of the first confirmed block after another slot; undefined where the node knows none. */
    async nextBlockSlot(slot: number): Promise<number | undefined> {
      const [next] = await node.request<readonly number[]>('getBlocks', [slot + 1, slot + MOST_SKIPPED, confirmed])
      return next
    },
    /** What tells the block of a slot from every other; `none` where the slot has no block, undefined where the node does not have it. */
    blockHead: (slot: number): Promise<SolanaHead | 'none' | undefined> =>
      blockOf(slot, 'none', (answer) => readSolanaHead(slot, answer)),
    /** A block with what its transactions have changed; undefined for one that the node does not have. */
    async block(slot: number): Promise<SolanaBlock | undefined> {
      const block = await blockOf(slot, 'accounts', (answer) => readSolanaBlock(slot, answer))
      return block === 'none' ? undefined : block
    },
    /**
     * What came of a transaction in the confirmed block of a slot: `absent` also where the slot has no block; undefined where the node does
     * not have the block yet. Throws `NodeRefusal` where it does not keep it.
     */
    async outcomeIn(slot: number, signature: string): Promise<'succeeded' | 'failed' | 'absent' | undefined> {
      const block = await blockOf(slot, 'accounts', (answer) => readSolanaBlock(slot, answer))
      if (block === undefined) return undefined
      const found = block === 'none' ? undefined : block.transactions.find((each) => each.signature === signature)
      return found === undefined ? 'absent' : found.failed ? 'failed' : 'succeeded'
    },
    /** The balance of an address, in lamports. */
    async balance(address: string): Promise<bigint> {
      const answer = await node.request<InContext<number>>('getBalance', [address, confirmed])
      return BigInt(answer.value)
    },
    /** What an account with so many bytes of data must have at least, in lamports. */
    async rentOf(size: number): Promise<bigint> {
      return BigInt(await node.request<number>('getMinimumBalanceForRentExemption', [size, confirmed]))
    },
    /** What was paid for a unit of late by transactions that write to these accounts, in millionths of a lamport. */
    async recentUnitPrices(writable: readonly string[]): Promise<readonly number[]> {
      const MAX_ACCOUNTS = 128
      const slots = await node.request<readonly { readonly prioritizationFee: number }[]>(
        'getRecentPrioritizationFees',
        [writable.slice(0, MAX_ACCOUNTS)],
      )
      return slots.map(({ prioritizationFee }) => prioritizationFee)
    },
    /** Hands a signed transaction over. The node does not try it first, nor offers it again: that is done here. */
    sendRaw: (transaction: string) =>
      node.request<string>('sendTransaction', [
        transaction,
        { encoding: 'base64', skipPreflight: true, maxRetries: 0 },
      ]),
    /** The statuses of at most 256 signatures, and the slot that the node was at; `history` looks beyond the latest blocks. */
    async statuses(signatures: readonly string[], { history }: { readonly history: boolean }) {
      const { context, value } = await node.request<InContext<readonly (SignatureStatus | null)[]>>(
        'getSignatureStatuses',
        [signatures, { searchTransactionHistory: history }],
      )
      return { slot: context.slot, statuses: value }
    },
    /** The last block that cannot be taken back: its slot, and how many blocks there are up to it. */
    async finalized() {
      const { absoluteSlot, blockHeight } = await node.request<{
        readonly absoluteSlot: number
        readonly blockHeight: number
      }>('getEpochInfo', [{ commitment: 'finalized' }])
      return { slot: absoluteSlot, blockHeight }
    },
    /** The first slot that the node still has the block of. */
    firstAvailableBlock: () => node.request<number>('getFirstAvailableBlock', []),
    /** An account's data as of the last block that cannot be taken back; none where there is no such account. */
    async finalizedAccount(address: string) {
      const { context, value } = await node.request<InContext<{ readonly data: readonly [string, string] } | null>>(
        'getAccountInfo',
        [address, { commitment: 'finalized', encoding: 'base64' }],
      )
      return { slot: context.slot, data: value === null ? undefined : value.data[0] }
    },
    /**
     * The transactions that name an address in blocks after a slot, newest first, by a node that has reached the slot `at`.
     * Throws `NodeRefusal` also where there are more than can be listed.
     */
    async signaturesOf(
      address: string,
      { after, at }: { readonly after: number; readonly at: number },
    ): Promise<readonly SignatureOf[]> {
      const found: SignatureOf[] = []
      for (let lists = 0; lists < MOST_LISTS; lists++) {
        const before = found.at(-1)?.signature
        const asked = { ...confirmed, limit: LISTED_AT_ONCE, minContextSlot: at, ...(before && { before }) }
        const list = await node.request<readonly SignatureOf[]>('getSignaturesForAddress', [address, asked])
        const late = list.filter(({ slot }) => slot > after)
        found.push(...late)
        if (late.length < list.length || list.length < LISTED_AT_ONCE) return found
      }
      throw new NodeRefusal({ code: 0, message: `${address} has more than ${found.length} transactions since` })
    },
    /** A transaction that is in a block, in base64; undefined where the node does not tell it. */
    async bytesOf(signature: string): Promise<string | undefined> {
      const asked = { ...confirmed, encoding: 'base64', maxSupportedTransactionVersion: 0 }
      const found = await node.request<{ readonly transaction: readonly [string, string] } | null>('getTransaction', [
        signature,
        asked,
      ])
      return found?.transaction[0]
    },
    /** What a transaction that is in a block has done there; none where the node does not keep it. */
    async transaction(
      signature: string,
      { commitment = 'confirmed' }: { readonly commitment?: Commitment } = {},
    ): Promise<SolanaRun | undefined> {
      const found = await node.request<{
        readonly meta: {
          readonly err: TransactionError | null
          readonly fee: number
          readonly logMessages?: readonly string[] | null
          readonly computeUnitsConsumed?: number
          readonly innerInstructions?: unknown
        } | null
      } | null>('getTransaction', [signature, { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 }])
      if (!found?.meta) return undefined
      const { err: error, fee, logMessages, computeUnitsConsumed: unitsConsumed, innerInstructions } = found.meta
      return { error, fee, logs: logMessages ?? [], unitsConsumed, innerInstructions }
    },
  }
}
