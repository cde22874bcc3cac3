/**
 * Whether a store is behind an Ethereum chain though nothing marks it as restored, as `solana-behind.ts` has it for Solana. INVARIANT:
 * before a process chooses a nonce, it has looked once at each address that the records have signed for. Where the chain has used
 * nonces of one that they do not know, the store counts as restored from then on, and all that is open in it is held.
 */
import { findNextNonce, type Lane, listLanes, putRestoredAt, readRestoredAt } from '../resources/sends/lanes-store.ts'
import { isKnownSince, putKnownSince } from '../resources/sends/solana-lanes-store.ts'
import { holdOpenSends } from '../resources/sends/store.ts'
import type { EthereumTools } from './ethereum-tools.ts'

/** Addresses that are looked at at the same time. */
const AT_ONCE = 8

/** Creates the look; it says why no nonce is chosen at this turn, nothing where that is done. Throws as `ChainNode` does. */
export function createBehindLook(tools: EthereumTools): () => Promise<string | undefined> {
  const { chain, node, database, clock, logger } = tools
  const { caip2 } = chain
  let left: Lane[] | undefined
  let looking: Promise<string | undefined> | undefined

  async function look(): Promise<string | undefined> {
    left ??= [...(await database.read((tx) => listLanes(tx, caip2)))]
    while (left.length > 0) {
      const lanes = left.slice(0, AT_ONCE)
      const behind = (await Promise.all(lanes.map(lookAt))).find((each) => each !== undefined)
      if (behind === undefined) left.splice(0, AT_ONCE)
      else {
        logger.warn('the records are behind the chain', { caip2, ...behind })
        await database.write(async (tx) => {
          await putRestoredAt(tx, new Date(clock()).toISOString())
          await holdOpenSends(tx)
        })
        left = []
        return `nonces of ${behind.address} were used that the records here do not know`
      }
    }
    return undefined
  }

  /** The nonces of a lane that only the chain knows, unless the store counts as restored for that already. */
  async function lookAt(lane: Lane) {
    // Before the records: what is signed meanwhile is in them. Of two counts the lower one counts, since one may be a lie.
    const counts = [await node.pendingCount(lane.sender), await node.pendingCount(lane.sender)].map(Number)
    const next = Math.min(...counts)
    return database.write(async (tx) => {
      const known = await findNextNonce(tx, lane)
      if (known === undefined) return undefined
      const restoredAt = await readRestoredAt(tx)
      if (next <= known) {
        if (restoredAt !== undefined) await putKnownSince(tx, lane, restoredAt)
        return undefined
      }
      if (restoredAt !== undefined && !(await isKnownSince(tx, lane, restoredAt))) return undefined
      return { address: lane.sender, known, next }
    })
  }

  return async () => {
    if (chain.unknownNonces === 'follow' || left?.length === 0) return undefined
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
}
