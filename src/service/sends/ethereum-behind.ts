/**
 * Whether a store is behind an Ethereum chain though nothing marks it as restored, as `solana-behind.ts` has it for Solana. INVARIANT:
 * before a process chooses a nonce, it has looked once at each address of which the records know one. Where the chain has used nonces
 * that they do not know, either the folder was copied back, or the key was used elsewhere while no service ran. The records tell which:
 *
 * - An organization that has let out no key and no signature, and taken in no key, has nothing to use elsewhere; neither has anybody the
 *   key that pays for sponsored sends. Then the store is older than the chain: it counts as restored, and all that is open is held.
 * - Otherwise it may be either, and what is open of the organizations that have the key is held alone: nobody holds up
 *   another's payments with a key of their own, and what one has given up in a folder that was copied back, it has paid by itself.
 *
 * Not seen are transactions that the node does not have, and addresses that were first used after the copy was made. So an organization
 * is not held that has sent from none other since, unless another's address shows that the store is older; nor is one that has sent
 * nothing since, and may have given up what is open here.
 */
import { activities } from '../../protocol/index.ts'
import {
  findNextNonce,
  type Lane,
  listKnownLanes,
  listTenants,
  putOrganizationsRestoredAt,
  putRestoredAt,
  readLaneRestoredAt,
} from '../resources/sends/lanes-store.ts'
import { isKnownSince, putKnownSince } from '../resources/sends/solana-lanes-store.ts'
import { holdOpenSends } from '../resources/sends/store.ts'
import { hasCompleted, type Transaction } from '../store/index.ts'
import type { EthereumTools } from './ethereum-tools.ts'

/** Addresses that are looked at at the same time: a node is asked so many questions at once, and one for each address that is in step. */
const AT_ONCE = 8

/** What they sign is in the records of sends. */
const SENDS: ReadonlySet<string> = new Set(['ETH_SEND_TRANSACTION', 'ETH_UNDELEGATE_7702', 'SOL_SEND_TRANSACTION'])

/** Activities by which a key may be used elsewhere: it came from there or went there, or what it has signed did. */
const USED_ELSEWHERE = Object.values(activities)
  .filter(({ action, family }) => ['SIGN', 'EXPORT', 'IMPORT'].includes(action ?? '') && !SENDS.has(family ?? ''))
  .map(({ type }) => type)

/** An address whose nonces are not all in the records. */
interface AheadLane extends Lane {
  /** The first nonce that is not known. */
  readonly known: number
  /** The chain's next one. */
  readonly next: number
}

/** Creates the look; it says whether sends were held just now, so that what was read of one is old. Throws as `ChainNode` does. */
export function createBehindLook(tools: EthereumTools): () => Promise<boolean> {
  const { chain, node, database, clock, logger } = tools
  const { caip2 } = chain
  const ahead: AheadLane[] = []
  let left: Lane[] | undefined
  let isDone = chain.unknownNonces === 'follow'
  let looking: Promise<boolean> | undefined

  async function look(): Promise<boolean> {
    left ??= [...(await database.read((tx) => listKnownLanes(tx, caip2)))]
    while (left.length > 0) {
      const looked = await Promise.all(left.slice(0, AT_ONCE).map(lookAt))
      ahead.push(...looked.filter((each) => each !== undefined))
      left.splice(0, AT_ONCE)
    }
    if (ahead.length > 0) {
      const held = await database.write((tx) => hold(tx, ahead, new Date(clock()).toISOString()))
      for (const { sender, known, next } of ahead.slice(0, 10))
        logger.warn('the records are behind the chain', { caip2, address: sender, known, next, held })
    }
    isDone = true
    return ahead.length > 0
  }

  /** A lane of which only the chain knows nonces, unless the store counts as restored for that already. */
  async function lookAt(lane: Lane): Promise<AheadLane | undefined> {
    const once = await compare(lane)
    // One count that is too high may be a lie.
    const { known, next, isAhead, restoredAt, isKnown } = once.isAhead ? await compare(lane) : once
    if (!isAhead && !isKnown) await database.write((tx) => putKnownSince(tx, lane, restoredAt!))
    return isAhead && isKnown ? { ...lane, known, next } : undefined
  }

  async function compare(lane: Lane) {
    // Before the records: what is signed meanwhile is in them.
    const next = Number(await node.pendingCount(lane.sender))
    return database.read(async (tx) => {
      const known = (await findNextNonce(tx, lane)) ?? next
      const restoredAt = await readLaneRestoredAt(tx, lane)
      const isKnown = restoredAt === undefined || (await isKnownSince(tx, lane, restoredAt))
      return { known, next, isAhead: next > known, restoredAt, isKnown }
    })
  }

  return async () => {
    if (isDone) return false
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
}

/** Holds what may be paid already, and says whose that is. */
async function hold(tx: Transaction, ahead: readonly AheadLane[], at: string): Promise<'all' | readonly string[]> {
  const held = new Set<string>()
  for (const lane of ahead) {
    const tenants = await listTenants(tx, lane)
    if (!(await isUsedElsewhere(tx, tenants))) {
      await putRestoredAt(tx, at)
      await holdOpenSends(tx)
      return 'all'
    }
    for (const each of tenants) held.add(each)
  }
  const organizations = [...held]
  await putOrganizationsRestoredAt(tx, organizations, at)
  for (const each of organizations) await holdOpenSends(tx, each)
  return organizations
}

async function isUsedElsewhere(tx: Transaction, organizationIds: readonly string[]): Promise<boolean> {
  for (const each of organizationIds) if (await hasCompleted(tx, each, USED_ELSEWHERE)) return true
  return false
}
