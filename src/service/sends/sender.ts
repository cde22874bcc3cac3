/**
 * Carries accepted sends to their end, in the background of the service. Those of one address on one chain stand in a lane
 * and are handed over one after the other, so that their nonces have neither gaps nor twins; lanes do not wait for
 * each other. Everything that matters is in the store: a service that was killed goes on where it was.
 */

import { type Namespace, namespaceOf } from '../../chain/index.ts'
import type { Chain } from '../chains/index.ts'
import { startLoop } from '../loop.ts'
import { isNodeFault, NodeUnreachable } from '../nodes/index.ts'
import { listAttempts, listOpenSends, listUnsettled, type SendRow } from '../resources/sends/store.ts'
import type { Lease } from '../store/index.ts'
import { createEthereumFamily } from './ethereum-family.ts'
import { type ChainFamily, type CreateChainFamily, changeSend, type Handover, type SendTools } from './family.ts'
import { createLaneRound, type LaneRound } from './lane-round.ts'
import { createSolanaFamily } from './solana-family.ts'

export interface Sender {
  /** Looks for new sends at once instead of at the next turn. */
  wake(): void
  /** Finishes the turn that is under way. */
  close(): Promise<void>
}

/** By the namespace of a chain's CAIP-2 id. */
const FAMILIES: Readonly<Record<Namespace, CreateChainFamily>> = {
  eip155: createEthereumFamily,
  solana: createSolanaFamily,
}

/** Starts carrying out sends on these chains, while this process has the lease of that. */
export function createSender(
  { lease, ...rest }: Omit<SendTools, 'database'> & { readonly lease: Lease },
  chains: readonly Chain[],
): Sender {
  const tools: SendTools = { ...rest, database: lease.database }
  const loops = chains.map((chain) => {
    const createFamily = FAMILIES[namespaceOf(chain.caip2)!]
    const turn = createTurn(tools, chain, createFamily(tools, chain))
    return startLoop(
      () =>
        turn().then(
          () => chain.pollMs,
          () => chain.pollMs,
        ),
      { run: lease.run, lookAgainMs: chain.pollMs },
    )
  })
  return {
    wake() {
      for (const loop of loops) loop.wake()
    },
    async close() {
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}

/** One look at everything open on a chain. Never throws: what failed is tried at the next turn. */
function createTurn(tools: SendTools, { caip2 }: Chain, family: ChainFamily): () => Promise<void> {
  const { database, logger } = tools
  const round = createLaneRound(tools, family)
  return async () => {
    const open = await database.read((tx) => listOpenSends(tx, caip2))
    const included = family.lookBack === undefined ? [] : await database.read((tx) => listUnsettled(tx, caip2))
    const lanes = Map.groupBy([...included, ...open], ({ sender }) => sender)
    await Promise.all(
      [...lanes].map(async ([address, rows]) => {
        try {
          await runLane(tools, { family, round }, { address, rows })
        } catch (error) {
          const reason = error instanceof NodeUnreachable ? error.message : String(error)
          logger.warn('sends wait', { caip2, address, open: rows.length, reason })
        }
      }),
    )
  }
}

/** Throws the first error of a node, once everything was done that can be without its answer. */
async function runLane(
  tools: SendTools,
  { family, round }: { readonly family: ChainFamily; readonly round: LaneRound },
  { address, rows }: { readonly address: string; readonly rows: readonly SendRow[] },
): Promise<void> {
  const of = (status: SendRow['status']) => rows.filter((row) => row.status === status)
  const [included, flying, fresh] = [of('INCLUDED'), of('BROADCASTING'), of('INITIALIZED')]
  let places = family.maxInFlight - flying.length
  await evenIfUnanswered([
    async () => included.length > 0 && family.lookBack?.(address, included),
    async () => flying.length > 0 && family.look(address, flying),
    () =>
      round(fresh, async (row) => {
        if (places === 0 && !family.replaces?.(row, flying)) return
        const outcome = await launch(tools, family, row)
        if (outcome === 'broadcasting') places = Math.max(0, places - 1)
        // What is behind it must not take its nonce, nor go without it.
        return outcome === 'later' ? 'stop' : undefined
      }),
  ])
}

/** Does one thing after the other, and throws the first error of a node after the last. */
async function evenIfUnanswered(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  let first: Error | undefined
  for (const work of works) {
    try {
      await work()
    } catch (error) {
      if (!isNodeFault(error)) throw error
      first ??= error
    }
  }
  if (first !== undefined) throw first
}

/** Bytes that were signed before are handed over unchanged. */
async function launch(tools: SendTools, family: ChainFamily, row: SendRow): Promise<Handover> {
  const [signed] = await tools.database.read((tx) => listAttempts(tx, row))
  if (signed) return family.handOver(row, signed, { again: true })
  const completion = await family.complete(row)
  if (typeof completion === 'string') return completion
  if ('attempt' in completion) return family.handOver(row, completion.attempt, { again: false })
  await changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(completion.failure) })
  return 'failed'
}
