/** Blocks as Solana's nodes tell of them (`getBlock`, with `transactionDetails` `accounts`). */
import { NodeUnreadable } from './node.ts'

/** What tells a block from every other. */
export interface SolanaHead {
  /** Its slot. */
  readonly number: number
  readonly hash: string
  /** Of the block before it, in whichever slot. */
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

export interface SolanaBlock extends SolanaHead {
  readonly transactions: readonly SolanaBlockTransaction[]
}

/** What a transaction has changed. */
export interface SolanaBlockTransaction {
  readonly signature: string
  readonly failed: boolean
  /** Lamports; the payer's alone. */
  readonly fee: bigint
  readonly payer: string
  /** By how many lamports each of its accounts has more than before, the fee of the payer among it. */
  readonly lamports: ReadonlyMap<string, bigint>
  /** By how much each of its token accounts has more, with the account's owner. */
  readonly tokens: readonly { readonly owner: string; readonly mint: string; readonly moved: bigint }[]
}

interface TokenBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string }
}

interface RpcTransaction {
  readonly transaction: {
    readonly signatures: readonly string[]
    readonly accountKeys: readonly { readonly pubkey: string }[]
  }
  readonly meta: {
    readonly err: unknown
    readonly fee: number
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
    readonly preTokenBalances?: readonly TokenBalance[] | null
    readonly postTokenBalances?: readonly TokenBalance[] | null
  } | null
}

/** Reads the head of the block of a slot. Throws `NodeUnreadable`. */
export function readSolanaHead(slot: number, answer: unknown): SolanaHead {
  const { blockhash, previousBlockhash, blockTime } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof blockhash !== 'string' || typeof previousBlockhash !== 'string' || typeof blockTime !== 'number')
    throw unreadable()
  return { number: slot, hash: blockhash, parentHash: previousBlockhash, timestamp: blockTime }
}

/** Reads the block of a slot with its transactions. Throws `NodeUnreadable`. */
export function readSolanaBlock(slot: number, answer: unknown): SolanaBlock {
  const head = readSolanaHead(slot, answer)
  try {
    const { transactions } = answer as { readonly transactions: readonly RpcTransaction[] }
    return { ...head, transactions: transactions.map(readTransaction) }
  } catch (cause) {
    throw unreadable(cause)
  }
}

function readTransaction({ transaction, meta }: RpcTransaction): SolanaBlockTransaction {
  const { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = meta!
  const keys = transaction.accountKeys.map(({ pubkey }) => pubkey)
  const moved = keys.map((key, index) => [key, BigInt(postBalances[index]!) - BigInt(preBalances[index]!)] as const)
  const tokens = [...(postTokenBalances ?? []).map(signed(1n)), ...(preTokenBalances ?? []).map(signed(-1n))]
  return {
    signature: transaction.signatures[0]!,
    failed: err !== null,
    fee: BigInt(fee),
    payer: keys[0]!,
    lamports: new Map(moved),
    tokens: [...Map.groupBy(tokens, ({ owner, mint }) => `${owner} ${mint}`).values()].map((same) => ({
      ...same[0]!,
      moved: same.reduce((sum, each) => sum + each.moved, 0n),
    })),
  }
}

/** Old nodes do not say whose a token account is: such a balance is nobody's. */
function signed(sign: bigint) {
  return ({ owner = '', mint, uiTokenAmount }: TokenBalance) => ({
    owner,
    mint,
    moved: sign * BigInt(uiTokenAmount.amount),
  })
}

function unreadable(cause?: unknown): NodeUnreadable {
  return new NodeUnreadable('getBlock had an answer that is no block', { cause })
}
