/**
 * The lane of an address of Solana, where transactions have no nonces that would tell what is missing. INVARIANT: after a restore
 * nothing of an address is signed until it is known what it has sent since the snapshot. What was signed then may be included as
 * long as its blockhash lasts, so that an empty list counts only after that, when it is read twice, at two final slots, and
 * every node says so. What is in it is identified by an operator (`solana-desk.ts`).
 */
import { isFormOf, readSolanaDraft, withFeePayer } from '../../chain/index.ts'
import { decodeBase64 } from '../../encoding/index.ts'
import { RECONCILE_COMMAND } from '../../protocol/index.ts'
import type { Chain } from '../chains/index.ts'
import { createSolanaNode, NodeRefusal, otherCluster, type SignatureOf, type SolanaNode } from '../nodes/index.ts'
import { type Lane, readRestoredAt } from '../resources/sends/lanes-store.ts'
import {
  type ForeignSolanaTransactionRow,
  isKnownSince,
  listForeignSolana,
  listOwnSignatures,
  listTerms,
  putKnownSince,
  putRestoredCluster,
  type RestoredCluster,
  readRestoredCluster,
} from '../resources/sends/solana-lanes-store.ts'
import type { SendRow } from '../resources/sends/store.ts'
import type { SendTools } from './family.ts'
import { heldReason } from './lane.ts'
import { readSolanaRequest, readSolanaTerms } from './solana-request.ts'
import type { SolanaTools } from './solana-tools.ts'

/** Blocks that a node may know, and hashes of which may be used, before most of the stake has voted for them. */
export const UNCONFIRMED_BLOCKS = 32

/** A transaction of an address that is not in the records. */
export interface UnknownTransaction extends SignatureOf {
  /** Base64; undefined while no node tells it. */
  readonly bytes?: string | undefined
}

/** A lane of which it is not known yet what it has sent since the snapshot. */
export interface RestoredLane {
  readonly restoredAt: string
  readonly unknown: readonly UnknownTransaction[]
  /** The final slot at which the list was read. */
  readonly slot: number
  /** Why an empty list does not count yet, in words; nothing where it does. */
  readonly doubt?: string
}

/** Bytes of transactions by their signature, `null` for those that the address has not paid for; what was read stays true. */
export type ReadTransactions = Map<string, string | null>

/** Looks at a lane of a store that was put back; nothing where its transactions are known. Throws as `ChainNode` does. */
export async function findRestoredLane(
  tools: Pick<SolanaTools, 'chain' | 'node' | 'database'>,
  lane: Lane,
  read: ReadTransactions,
): Promise<RestoredLane | undefined> {
  const { chain, node, database } = tools
  const { caip2, sender } = lane
  if (chain.unknownNonces === 'follow') return undefined
  const restoredAt = await database.read(readRestoredAt)
  if (restoredAt === undefined) return undefined
  if (await database.read((tx) => isKnownSince(tx, lane, restoredAt))) return undefined
  const cluster = await findCluster(tools, caip2, restoredAt)
  const { slot, blockHeight } = await node.finalized()
  const unknown = await listUnknown(tools, lane, { after: cluster.slot, at: slot, read })
  const first = await node.firstAvailableBlock()
  const doubt =
    first > cluster.slot
      ? `the node keeps no blocks before slot ${first}, and the snapshot ends at ${cluster.slot}: serve the chain with a node that keeps them`
      : blockHeight <= cluster.until
        ? `what ${sender} signed before may be included up to block ${cluster.until}, and block ${blockHeight} is the last that is final`
        : undefined
  return { restoredAt, unknown, slot, ...(doubt !== undefined && { doubt }) }
}

/** Notes where the cluster stands when the restored store first looks at it, before anything is signed. */
async function findCluster(
  { chain, database }: Pick<SolanaTools, 'chain' | 'database'>,
  caip2: string,
  restoredAt: string,
): Promise<RestoredCluster> {
  const noted = await database.read((tx) => readRestoredCluster(tx, caip2))
  if (noted?.restoredAt === restoredAt) return noted
  const lasts = await Promise.all(
    nodesOf(chain).map(async (node) => {
      const elsewhere = otherCluster(caip2, await node.genesisHash())
      if (elsewhere !== undefined) throw new NodeRefusal({ code: 0, message: elsewhere })
      return (await node.latestBlockhash()).lastValidBlockHeight
    }),
  )
  return database.write(async (tx) => {
    const other = await readRestoredCluster(tx, caip2)
    if (other?.restoredAt === restoredAt) return other
    const slots = (await listTerms(tx, caip2)).map(readSolanaTerms).map(({ slot }) => slot)
    const cluster = {
      restoredAt,
      slot: slots.reduce((most, slot) => Math.max(most, slot), 0),
      until: Math.max(...lasts) + UNCONFIRMED_BLOCKS,
    }
    await putRestoredCluster(tx, caip2, cluster)
    return cluster
  })
}

/** What an address has paid for after a slot, by any node, that is neither a send's nor known as somebody else's; oldest first. */
export async function listUnknown(
  { chain, database }: Pick<SolanaTools, 'chain' | 'database'>,
  { caip2, sender }: Lane,
  { after, at, read }: { readonly after: number; readonly at: number; readonly read: ReadTransactions },
): Promise<readonly UnknownTransaction[]> {
  const nodes = nodesOf(chain)
  const bySignature = new Map<string, SignatureOf>()
  for (const node of nodes) {
    for (const one of await node.signaturesOf(sender, { after, at })) {
      const other = bySignature.get(one.signature)
      // What one node does not take for final is not.
      if (other === undefined || one.confirmationStatus !== 'finalized') bySignature.set(one.signature, one)
    }
  }
  const signatures = [...bySignature.keys()]
  const known = await database.read(async (tx) => {
    const foreign = await listForeignSolana(tx, { caip2, sender })
    return new Set([...(await listOwnSignatures(tx, caip2, signatures)), ...foreign.map(({ signature }) => signature)])
  })
  const unknown: UnknownTransaction[] = []
  for (const [signature, one] of bySignature) {
    if (known.has(signature)) continue
    const bytes = await bytesOf(nodes, { signature, sender, read })
    if (bytes !== null) unknown.push({ ...one, bytes })
  }
  return unknown.toSorted((a, b) => a.slot - b.slot)
}

/** Null for one that somebody else has paid for: it names the address, as each payment to it does. */
async function bytesOf(
  nodes: readonly SolanaNode[],
  { signature, sender, read }: { readonly signature: string; readonly sender: string; readonly read: ReadTransactions },
): Promise<string | null | undefined> {
  const before = read.get(signature)
  if (before !== undefined) return before
  for (const node of nodes) {
    const bytes = await node.bytesOf(signature)
    if (bytes === undefined) continue
    const own = readSolanaDraft(decodeBase64(bytes)).signers[0] === sender ? bytes : null
    read.set(signature, own)
    return own
  }
  return undefined
}

const nodesOf = ({ node, witnesses }: Chain): readonly SolanaNode[] => [node, ...witnesses].map(createSolanaNode)

/** Whether a transaction does what a send asks for, so that both would be the same payment twice. */
export function paysAsSolana({ request, sender, account }: SendRow, bytes: string): boolean {
  const asked = decodeBase64(readSolanaRequest(request).transaction)
  const sponsored = account !== null
  return isFormOf(sponsored ? withFeePayer(asked, sender) : asked, decodeBase64(bytes), { sponsored })
}

/** Whether nobody has said yet what a transaction from elsewhere is. */
export const isUnclaimed = ({ send_id, is_other }: ForeignSolanaTransactionRow) => send_id === null && is_other === 0

/** Creates what says why a send is not signed; nothing where it can be. */
export function createSolanaHolds(tools: Pick<SendTools, 'database' | 'clock'> & Pick<SolanaTools, 'chain' | 'node'>) {
  const { chain, database, clock } = tools
  const read: ReadTransactions = new Map()
  /** By the address: the final slot at which nothing was found first. */
  const emptyAt = new Map<string, number>()
  /** By the address: what was said of it last. One look a turn is enough for all of its sends. */
  const said = new Map<string, { readonly at: number; readonly reason: string | undefined }>()

  async function reasonOf(lane: Lane): Promise<string | undefined> {
    const before = said.get(lane.sender)
    if (before !== undefined && clock() - before.at < chain.pollMs) return before.reason
    const reason = await lookAt(lane).catch((error: unknown) => {
      if (!(error instanceof NodeRefusal)) throw error
      return `it is not known what ${lane.sender} has sent since the snapshot: ${error.message}`
    })
    if (reason === undefined) said.delete(lane.sender)
    else said.set(lane.sender, { at: clock(), reason })
    return reason
  }

  async function lookAt(lane: Lane): Promise<string | undefined> {
    const { sender } = lane
    const restored = await findRestoredLane(tools, lane, read)
    if (restored === undefined) return undefined
    const { unknown, doubt, slot, restoredAt } = restored
    if (unknown.length > 0) return unknownReason(sender, unknown)
    if (doubt !== undefined) return `this store was put back from a snapshot: ${doubt}; nothing is signed before`
    const since = emptyAt.get(sender)
    if (since === undefined || slot <= since) {
      emptyAt.set(sender, since ?? slot)
      return `this store was put back from a snapshot: what ${sender} has sent since is read once more; nothing is signed before`
    }
    await database.write((tx) => putKnownSince(tx, lane, restoredAt))
    return undefined
  }

  return async (row: SendRow): Promise<string | undefined> => {
    if (chain.unknownNonces === 'follow') return undefined
    const reason = await reasonOf(row)
    if (reason !== undefined) return reason
    const foreign = (await database.read((tx) => listForeignSolana(tx, row))).filter(isUnclaimed)
    const same = foreign.find(({ bytes }) => paysAsSolana(row, bytes))
    if (same !== undefined) return sameReason(same)
    return row.held_by_restore === 1 ? heldReason(row) : undefined
  }
}

function unknownReason(sender: string, unknown: readonly UnknownTransaction[]): string {
  const [first] = unknown
  const others = unknown.length === 1 ? '' : ` and ${unknown.length - 1} more`
  return `transaction ${first!.signature}${others} of ${sender}, from after the snapshot that this store was put back from, is not in the records here: nothing is signed until ${RECONCILE_COMMAND} has identified it`
}

function sameReason({ signature, sender }: ForeignSolanaTransactionRow): string {
  return `transaction ${signature} of ${sender}, which was sent from elsewhere, does the same: ${RECONCILE_COMMAND} says whether it is this send`
}
