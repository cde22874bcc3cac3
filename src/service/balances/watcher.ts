import { type AddressFormat, type Namespace, namespaceOf } from '../../chain/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Chain } from '../chains/index.ts'
import { startLoop } from '../loop.ts'
import { isNodeFault, NodeUnreachable } from '../nodes/index.ts'
import type { Outbox } from '../outbox/index.ts'
import {
  findFirstFollowerOfBalances,
  findOwners,
  forgetBlocksAbove,
  insertBalanceChange,
  insertWatchedBlock,
  listWatchedBlocks,
  takeBalanceChanges,
  type WatchedBlockRow,
} from '../resources/balances/store.ts'
import type { Lease } from '../store/index.ts'
import { followEthereum } from './ethereum.ts'
import type { FollowedBlock, FollowedChain } from './followed-chain.ts'
import { followSolana } from './solana.ts'

export interface BalanceWatcher {
  /** Finishes the turn that is under way. */
  close(): Promise<void>
}

export interface WatcherTools {
  /** The lease of watching: one process at a time has it. */
  readonly lease: Lease
  readonly outbox: Pick<Outbox, 'record' | 'wake'>
  readonly clock: () => number
  readonly logger: Logger
}

/** Blocks that are looked through in one turn: the loop must be able to end. */
const MOST_A_TURN = 32

/** How far below the newest block blocks are remembered, to find where a chain has taken another way: more than any takes to be final. */
const KEPT = 128

/** How far below the newest block a first look begins at most. */
const MOST_BACK = 64

/** How each kind of chain is followed, and the format of the addresses there. */
const KINDS: Readonly<
  Record<Namespace, { readonly follow: (chain: Chain) => FollowedChain; readonly format: AddressFormat }>
> = {
  eip155: { follow: followEthereum, format: 'ADDRESS_FORMAT_ETHEREUM' },
  solana: { follow: followSolana, format: 'ADDRESS_FORMAT_SOLANA' },
}

/** While no organization subscribes to balances: how long until the next look for a subscription. */
const IDLE_MS = 1_000

/**
 * Starts watching chains. Each block is looked through once: its changes are recorded in the
 * transaction that marks the block as looked through, so that no change is lost or told twice when the process ends.
 */
export function createBalanceWatcher(tools: WatcherTools, chains: readonly Chain[]): BalanceWatcher {
  const loops = chains.map((chain) => {
    const turn = createTurn(tools, chain)
    const { run } = tools.lease
    return startLoop(turn, { run, lookAgainMs: Math.max(chain.pollMs, IDLE_MS) })
  })
  return { close: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
}

/** One look at a chain, which says how long to wait for the next. Never throws: what is not known now is asked again. */
function createTurn(tools: WatcherTools, chain: Chain): () => Promise<number> {
  const { caip2, pollMs } = chain
  const { lease, logger, outbox } = tools
  const { database } = lease
  const { follow, format } = KINDS[namespaceOf(caip2)!]
  const followed: FollowedChain = follow(chain)
  const ownersOf = (addresses: readonly string[]) => database.read((tx) => findOwners(tx, format, addresses))
  let isChecked = false
  let said = ''

  async function turn(): Promise<number> {
    const { since, blocks } = await database.read(async (tx) => ({
      since: await findFirstFollowerOfBalances(tx),
      blocks: await listWatchedBlocks(tx, caip2),
    }))
    if (since === undefined) {
      // Changes of a time without subscriptions are not told to later subscribers.
      if (blocks.length > 0) await database.write((tx) => forgetBlocksAbove(tx, caip2, -1))
      return IDLE_MS
    }
    if (!isChecked) {
      const other = await followed.otherServed()
      if (other !== undefined) throw new NodeUnreachable(other)
      isChecked = true
    }
    const latest = await followed.latest()
    const last = blocks[0] ? await findLast(blocks, latest) : await findFirst(since, latest)
    if (last === 'later') return pollMs
    let { number, hash } = last
    const end = Math.min(latest, number + MOST_A_TURN)
    while (number < end) {
      const block = await followed.nextAfter(number)
      if (block === undefined) return pollMs
      // Another way since the turn began: the next one finds out from where.
      if (block.parentHash !== hash) return 0
      await lookThrough(block)
      ;({ number, hash } = block)
    }
    said = ''
    return number < latest ? 0 : pollMs
  }

  /** The block before the first one that may hold a change for the oldest subscription. */
  async function findFirst(since: number, latest: number): Promise<WatchedBlockRow | 'later'> {
    let number = latest
    let block = await followed.headOf(number)
    const isEarly = () => block !== 'none' && block!.timestamp < Math.floor(since / 1_000)
    while (block && number > 0 && !isEarly() && (block === 'none' || number > latest - MOST_BACK)) {
      number -= 1
      block = await followed.headOf(number)
    }
    if (!block || block === 'none') return 'later'
    const first = { caip2, number: block.number, hash: block.hash }
    await database.write((tx) => insertWatchedBlock(tx, first, KEPT))
    return first
  }

  /** The last block that was looked through and is still part of the chain; blocks after it are forgotten. */
  async function findLast(blocks: readonly WatchedBlockRow[], latest: number): Promise<WatchedBlockRow | 'later'> {
    // One node of several may be behind: a block that it does not have yet may well exist.
    if (latest < blocks[0]!.number) return 'later'
    for (const known of blocks) {
      const block = await followed.headOf(known.number)
      if (block === undefined) return 'later'
      if (block === 'none' || block.hash !== known.hash) continue
      if (known !== blocks[0]) {
        logger.warn('a chain has taken another way', { caip2, from: known.number, to: blocks[0]!.number })
        await database.write((tx) => forgetBlocksAbove(tx, caip2, known.number))
      }
      return known
    }
    const lowest = blocks.at(-1)!.number
    logger.error('a chain has taken another way below all blocks that are remembered', { caip2, lowest })
    await database.write((tx) => forgetBlocksAbove(tx, caip2, -1))
    return 'later'
  }

  async function lookThrough(block: FollowedBlock): Promise<void> {
    const changes = await followed.changesIn(block, ownersOf)
    const final = await followed.finalAt(block)
    const isNews = await database.write(async (tx) => {
      await insertWatchedBlock(tx, { caip2, number: block.number, hash: block.hash }, KEPT)
      let isTold = false
      for (const change of changes) {
        isTold = (await outbox.record(tx, 'BALANCE_CONFIRMED_UPDATES', { ...change, at: tools.clock() })) || isTold
        await insertBalanceChange(tx, change)
      }
      for (const change of await takeBalanceChanges(tx, caip2, final)) {
        isTold = (await outbox.record(tx, 'BALANCE_FINALIZED_UPDATES', { ...change, at: tools.clock() })) || isTold
      }
      return isTold
    })
    if (isNews) outbox.wake()
  }

  return () =>
    turn().catch((error: unknown) => {
      isChecked = false
      const reason = isNodeFault(error) ? error.message : String(error)
      if (reason !== said) logger.warn('balances wait', { caip2, reason })
      said = reason
      return Math.max(pollMs, IDLE_MS)
    })
}
