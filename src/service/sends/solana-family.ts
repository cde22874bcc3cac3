import type { SendAttemptRow, SendRow } from '../store/schema.ts'
import { type CreateChainFamily, changeSend, type Handover } from './family.ts'
import { NodeRefusal } from './node.ts'
import { completeSolana, type SolanaTools } from './solana-completion.ts'
import { refusalFailure } from './solana-failure.ts'
import { createSolanaNode } from './solana-node.ts'
import { createSolanaWatcher } from './solana-watch.ts'

/** Nothing of one waits for another; each of them is offered at every turn. */
const MAX_IN_FLIGHT = 256

/** What nodes say of bytes that they will never take: no transaction, or none that is signed (agave's `custom_error.rs`). */
const REFUSED_FOR_GOOD = [-32_602, -32_003]

/** Sends on a chain of the namespace solana. */
export const createSolanaFamily: CreateChainFamily = (sendTools, chain) => {
  const node = createSolanaNode(chain.node)
  const tools: SolanaTools = { ...sendTools, chain, node }
  const watcher = createSolanaWatcher(tools)

  async function handOver(row: SendRow, { signed_transaction }: SendAttemptRow): Promise<Handover> {
    try {
      await node.sendRaw(signed_transaction)
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      if (!REFUSED_FOR_GOOD.includes(error.code)) return 'later'
      await changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(refusalFailure(error)) })
      return 'failed'
    }
    await changeSend(tools, row, { status: 'BROADCASTING' })
    return 'broadcasting'
  }

  return {
    maxInFlight: MAX_IN_FLIGHT,
    look: (_sender, flying) => watcher.look(flying),
    complete: (row) => completeSolana(tools, row, 1),
    handOver,
  }
}
