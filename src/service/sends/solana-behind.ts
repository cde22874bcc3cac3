/**
 * Whether a store is behind a Solana cluster though nothing marks it as restored: its folder was copied back, or its database
 * recovered by its own means. INVARIANT: before a process signs anything, it has looked once for what each address that the
 * records have signed for has paid for since the newest slot of the records. Anything that they do not have marks the store as
 * restored, and then `solana-lane.ts` decides.
 */
import { NodeRefusal } from '../nodes/index.ts'
import { putRestoredAt, readRestoredAt } from '../resources/sends/lanes-store.ts'
import { isKnownSince, listNewestTerms, listSignedLanes } from '../resources/sends/solana-lanes-store.ts'
import { holdOpenSends } from '../resources/sends/store.ts'
import { listUnknown, type ReadTransactions } from './solana-lane.ts'
import { readSolanaTerms } from './solana-request.ts'
import type { SolanaTools } from './solana-tools.ts'

/** Addresses that are looked at at the same time. */
const AT_ONCE = 8

/** No method of this name, and no history on this node (agave's `TransactionHistoryNotAvailable`): it can never tell. */
const NEVER_TOLD: ReadonlySet<number> = new Set([-32_601, -32_011])

interface Start {
  /** The newest slot of the records as the process began. */
  readonly slot: number
  /** Addresses that have not been looked at yet. */
  readonly left: Set<string>
}

/** Creates the look; it says why nothing can be signed yet, nothing where that is done. Throws as `ChainNode` does. */
export function createBehindLook(
  tools: Pick<SolanaTools, 'chain' | 'node' | 'database' | 'clock' | 'logger'>,
): () => Promise<string | undefined> {
  const { chain, node, database, clock, logger } = tools
  const { caip2 } = chain
  const read: ReadTransactions = new Map()
  let start: Start | undefined
  let looking: Promise<string | undefined> | undefined

  const begin = (): Promise<Start> =>
    database.read(async (tx) => {
      const restoredAt = await readRestoredAt(tx)
      const left = new Set<string>()
      for (const sender of await listSignedLanes(tx, caip2)) {
        // What a restore has left open is looked for anyway.
        if (restoredAt === undefined || (await isKnownSince(tx, { caip2, sender }, restoredAt))) left.add(sender)
      }
      const slots = (await listNewestTerms(tx, caip2)).map((terms) => readSolanaTerms(terms).slot)
      return { slot: Math.max(0, ...slots), left }
    })

  async function look(): Promise<string | undefined> {
    start ??= await begin()
    const { slot: after, left } = start
    if (left.size === 0) return undefined
    const { slot: at } = await node.finalized()
    const senders = [...left]
    while (senders.length > 0) {
      const reasons = await Promise.all(senders.splice(0, AT_ONCE).map((sender) => lookAt(sender, { after, at })))
      const reason = reasons.find((each) => each !== undefined)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  async function lookAt(sender: string, slots: { readonly after: number; readonly at: number }) {
    const { left } = start!
    try {
      const unknown = await listUnknown(tools, { caip2, sender }, { ...slots, read })
      const own = unknown.filter(({ bytes }) => bytes !== undefined)
      if (own.length > 0) {
        const signatures = own.map(({ signature }) => signature)
        logger.warn('the records are behind the chain', { caip2, address: sender, signatures: signatures.slice(0, 10) })
        await database.write(async (tx) => {
          await putRestoredAt(tx, new Date(clock()).toISOString())
          await holdOpenSends(tx)
        })
        left.clear()
        return undefined
      }
      if (unknown.length > 0) return `no node tells yet whether ${sender} has paid for ${unknown[0]!.signature}`
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      if (!NEVER_TOLD.has(error.code)) return `it is not known what ${sender} has sent: ${error.message}`
      logger.warn('whether the records are behind the chain is unknown', {
        caip2,
        address: sender,
        reason: error.message,
      })
    }
    left.delete(sender)
    return undefined
  }

  return () => {
    if (start?.left.size === 0) return Promise.resolve(undefined)
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
}
