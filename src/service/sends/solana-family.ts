import { createSolanaNode, NodeRefusal } from '../nodes/index.ts'
import type { SendAttemptRow, SendRow } from '../resources/sends/store.ts'
import { type CreateChainFamily, changeSend, type Handover, noteWait } from './family.ts'
import { createBehindLook } from './solana-behind.ts'
import { createSolanaCompletion, waitFor } from './solana-completion.ts'
import { isRefusedForGood, refusalFailure } from './solana-failure.ts'
import { createSolanaHolds } from './solana-lane.ts'
import type { SolanaTools } from './solana-tools.ts'
import { type Complete, createSolanaWatcher } from './solana-watch.ts'

/** Nothing of one waits for another; each of them is offered at every turn. */
const MAX_IN_FLIGHT = 256

/** Sends on a chain of the namespace solana. */
export const createSolanaFamily: CreateChainFamily = (sendTools, chain) => {
  const node = createSolanaNode(chain.node)
  const tools: SolanaTools = { ...sendTools, chain, node }
  const lookBehind = createBehindLook(tools)
  const holdOf = createSolanaHolds(tools)
  const completeNow = createSolanaCompletion(tools)
  const complete: Complete = async (row, number) => {
    const isFollowed = chain.unknownNonces === 'follow'
    const reason = (isFollowed ? undefined : await lookBehind()) ?? (await holdOf(row))
    if (reason === undefined) return completeNow(row, number)
    await noteWait(tools, row, reason)
    return 'waits'
  }
  const watcher = createSolanaWatcher(tools, complete)

  async function handOver(row: SendRow, { signed_transaction }: SendAttemptRow): Promise<Handover> {
    try {
      await node.sendRaw(signed_transaction)
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      if (!isRefusedForGood(error)) return waitFor(tools, row, error)
      // Who refuses it may have handed it on: it has failed when nobody has it and its blockhash is gone (`solana-watch.ts`).
      const refusal = JSON.stringify(refusalFailure('broadcast', error))
      await changeSend(tools, row, { status: 'BROADCASTING', failure: refusal })
      return 'broadcasting'
    }
    await changeSend(tools, row, { status: 'BROADCASTING', failure: null })
    return 'broadcasting'
  }

  return {
    maxInFlight: MAX_IN_FLIGHT,
    inOrder: false,
    look: (_sender, flying) => watcher.look(flying),
    complete: (row) => complete(row, 1),
    handOver,
  }
}
