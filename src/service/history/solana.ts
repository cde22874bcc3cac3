/**
 * The history of an address on a Solana cluster: what this service has sent for it, as the cluster's node has it now. What
 * moved is read from what everybody had before a transaction and has after it, so that it holds whatever the programs did.
 */
import type { Wire } from '../../protocol/index.ts'
import type { Chain, ChainAsset } from '../chains/index.ts'
import { createSolanaNode } from '../nodes/index.ts'
import { type SentTransaction, toRfc3339, toTransfer, turnkeyOf } from './sent.ts'

interface TokenBalance {
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string }
}

interface RpcTransaction {
  readonly slot: number
  /** Seconds since the epoch. */
  readonly blockTime: number | null
  readonly meta: {
    readonly fee: number
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
    readonly preTokenBalances?: readonly TokenBalance[] | null
    readonly postTokenBalances?: readonly TokenBalance[] | null
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] } | null
  }
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[]
      readonly header: { readonly numRequiredSignatures: number; readonly numReadonlySignedAccounts: number }
    }
  }
}

const CONFIRMED = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const

/** Reads the history's items in the order of the sends; one that the node no longer has is left out. Throws as `ChainNode` does. */
export async function readSolanaHistory(
  chain: Chain,
  {
    address,
    currency,
    sent,
  }: { readonly address: string; readonly currency: ChainAsset; readonly sent: readonly SentTransaction[] },
): Promise<Wire.SolTransactionHistoryItem[]> {
  if (sent.length === 0) return []
  const { node } = chain
  const finalized = await createSolanaNode(node).finalized()
  const items = sent.map(async (each): Promise<Wire.SolTransactionHistoryItem[]> => {
    const signature = each.send.hash!
    const found = await node.request<RpcTransaction | null>('getTransaction', [
      signature,
      { ...CONFIRMED, encoding: 'json' },
    ])
    if (found === null) return []
    const { slot, meta } = found
    const { accountKeys, header } = found.transaction.message
    const block = await node.request<{ readonly blockhash: string; readonly blockTime: number | null }>('getBlock', [
      slot,
      { ...CONFIRMED, transactionDetails: 'none', rewards: false },
    ])
    const firstReadOnly = header.numRequiredSignatures - header.numReadonlySignedAccounts
    return [
      {
        signature,
        block: {
          number: slot.toString(),
          hash: block.blockhash,
          timestamp: toRfc3339((found.blockTime ?? block.blockTime ?? 0) * 1000),
        },
        status: slot <= finalized.slot ? 'FINALIZED' : 'CONFIRMED',
        origin: 'TURNKEY',
        feePayer: accountKeys[0]!,
        signers: accountKeys
          .slice(0, header.numRequiredSignatures)
          .map((signer, index) => ({ address: signer, writable: index < firstReadOnly })),
        fee: { amount: meta.fee.toString(), caip19: currency.caip19 },
        transfers: [
          ...movesOf(lamportChanges(found), address).map(({ counterparty, amount }) =>
            toSide(counterparty, amount, currency),
          ),
          ...(await tokenTransfers(chain, found, address)),
        ],
        turnkey: turnkeyOf(each),
      },
    ]
  })
  return (await Promise.all(items)).flat()
}

/** How much more everybody has afterwards, by address. */
type Changes = ReadonlyMap<string, bigint>

/** The fee is no transfer. */
function lamportChanges({ meta, transaction }: RpcTransaction): Changes {
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const keys = [...transaction.message.accountKeys, ...writable, ...readonly]
  const changes = keys.map((key, index): [string, bigint] => {
    const fee = index === 0 ? BigInt(meta.fee) : 0n
    return [key, BigInt(meta.postBalances[index]!) - BigInt(meta.preBalances[index]!) + fee]
  })
  return new Map(changes)
}

async function tokenTransfers(
  chain: Chain,
  { meta }: RpcTransaction,
  address: string,
): Promise<Wire.TransactionHistoryTransfer[]> {
  const byMint = new Map<string, Map<string, bigint>>()
  const count = (balances: readonly TokenBalance[] | null | undefined, sign: bigint) => {
    for (const { mint, owner, uiTokenAmount } of balances ?? []) {
      if (owner === undefined) continue
      const changes = byMint.get(mint) ?? new Map<string, bigint>()
      changes.set(owner, (changes.get(owner) ?? 0n) + sign * BigInt(uiTokenAmount.amount))
      byMint.set(mint, changes)
    }
  }
  count(meta.preTokenBalances, -1n)
  count(meta.postTokenBalances, 1n)
  const transfers = [...byMint].map(async ([mint, changes]) => {
    const moves = movesOf(changes, address)
    const asset = moves.length === 0 ? undefined : await chain.assets.find(mint)
    return moves.map(({ counterparty, amount }) => toSide(counterparty, amount, asset))
  })
  return (await Promise.all(transfers)).flat()
}

interface Move {
  readonly counterparty: string
  /** What the address gained by it; below 0 what it lost. */
  readonly amount: bigint
}

/**
 * The counterparties of an address, the largest amount first. Where the address alone has lost, or alone has gained, each
 * other address is a counterparty, with its own amount; otherwise amounts cannot be assigned, and the whole is told of the
 * address with the largest other change.
 */
function movesOf(changes: Changes, address: string): readonly Move[] {
  const own = changes.get(address) ?? 0n
  if (own === 0n) return []
  const others = [...changes].filter(([key, change]) => key !== address && change !== 0n)
  const size = (change: bigint) => (change < 0n ? -change : change)
  const opposite = others
    .filter(([, change]) => change > 0n !== own > 0n)
    .toSorted(([, a], [, b]) => (size(a) < size(b) ? 1 : -1))
  if (opposite.length === others.length && opposite.reduce((sum, [, change]) => sum + change, own) === 0n) {
    return opposite.map(([counterparty, change]) => ({ counterparty, amount: -change }))
  }
  const [most] = opposite
  return most === undefined ? [] : [{ counterparty: most[0], amount: own }]
}

function toSide(counterparty: string, amount: bigint, asset: ChainAsset | undefined): Wire.TransactionHistoryTransfer {
  return amount > 0n ? toTransfer('IN', counterparty, amount, asset) : toTransfer('OUT', counterparty, -amount, asset)
}
