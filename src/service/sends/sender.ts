/**
 * Carries accepted sends to their end, in the background of the service. Those of one address on one chain stand in a lane
 * and are handed over one after the other, so that their nonces have neither gaps nor twins; lanes do not wait for
 * each other. Everything that matters is in the store: a service that was killed goes on where it was.
 */
import type { Logger } from '../../telemetry/index.ts'
import type { SendRow } from '../store/schema.ts'
import { listAttempts, listOpenSends } from '../store/sends.ts'
import { broadcast, change, type Handover } from './broadcast.ts'
import type { Chain } from './chains.ts'
import { completeSend, type SendTools } from './completion.ts'
import { createEthereumNode, type EthereumNode } from './ethereum.ts'
import { NodeUnreachable } from './node.ts'
import { createWatcher, type Watcher } from './watch.ts'

export interface Sender {
  /** Looks for new sends at once instead of at the next turn. */
  wake(): void
  /** Finishes the turn that is under way. */
  close(): Promise<void>
}

/** As many of one address as every node keeps waiting (geth's `accountslots`). */
const MAX_IN_FLIGHT = 16

/** Starts carrying out sends on these chains. */
export function createSender(tools: SendTools & { readonly logger: Logger }, chains: readonly Chain[]): Sender {
  const loops = chains.map((chain) => startLoop(chain.pollMs, createTurn(tools, chain)))
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
function createTurn(tools: SendTools & { readonly logger: Logger }, chain: Chain): () => Promise<void> {
  const node = createEthereumNode(chain.node)
  const watcher = createWatcher(tools, chain, node)
  const lane = { tools, node, watcher }
  return async () => {
    const open = await tools.database.read((tx) => listOpenSends(tx, chain.caip2))
    const lanes = Map.groupBy(open, ({ sender }) => sender)
    await Promise.all(
      [...lanes].map(async ([address, rows]) => {
        try {
          await runLane(lane, rows)
        } catch (error) {
          const reason = error instanceof NodeUnreachable ? error.message : String(error)
          tools.logger.warn('sends wait', { caip2: chain.caip2, address, open: rows.length, reason })
        }
      }),
    )
  }
}

interface Lane {
  readonly tools: SendTools
  readonly node: EthereumNode
  readonly watcher: Watcher
}

async function runLane(lane: Lane, rows: readonly SendRow[]): Promise<void> {
  const flying = rows.filter(({ status }) => status === 'BROADCASTING')
  for (const row of flying) await lane.watcher.look(row)
  let places = MAX_IN_FLIGHT - flying.length
  for (const row of rows.filter(({ status }) => status === 'INITIALIZED')) {
    if (places === 0) return
    const outcome = await launch(lane, row)
    // What is behind it must not take its nonce, nor go without it.
    if (outcome === 'later') return
    if (outcome === 'broadcasting') places--
  }
}

async function launch({ tools, node }: Lane, row: SendRow): Promise<Handover> {
  const [signed] = await tools.database.read((tx) => listAttempts(tx, row))
  if (signed) return broadcast(tools, node, row, signed)
  const completion = await completeSend(tools, node, row)
  if ('attempt' in completion) return broadcast(tools, node, row, completion.attempt)
  await change(tools, row, { status: 'FAILED', failure: JSON.stringify(completion.failure) })
  return 'failed'
}

/** Runs a turn, waits, runs the next; being woken during a turn means one more right after it. */
function startLoop(pauseMs: number, turn: () => Promise<void>) {
  let closed = false
  let woken = Promise.withResolvers<void>()
  const running = (async () => {
    while (!closed) {
      woken = Promise.withResolvers<void>()
      await turn().catch(() => {})
      if (closed) return
      const timer = setTimeout(woken.resolve, pauseMs)
      await woken.promise
      clearTimeout(timer)
    }
  })()
  return {
    wake: () => woken.resolve(),
    async close() {
      closed = true
      woken.resolve()
      await running
    },
  }
}
