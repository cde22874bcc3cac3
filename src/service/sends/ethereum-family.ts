import { createEthereumNode } from '../nodes/index.ts'
import { createBroadcast } from './broadcast.ts'
import { createCompletion } from './completion.ts'
import type { CreateChainFamily } from './family.ts'
import { readSendRequest } from './request.ts'
import { createSettlement } from './settlement.ts'
import { createWatcher } from './watch.ts'

/** As many of one address as every node keeps waiting (geth's `accountslots`). */
const MAX_IN_FLIGHT = 16

/** Sends on a chain of the namespace eip155. */
export const createEthereumFamily: CreateChainFamily = (tools, chain) => {
  const ethereum = { ...tools, chain, node: createEthereumNode(chain.node) }
  const broadcast = createBroadcast(ethereum)
  const complete = createCompletion(ethereum)
  const alone = createTurns()
  return {
    maxInFlight: MAX_IN_FLIGHT,
    inOrder: true,
    replaces(row, flying) {
      const { nonce } = readSendRequest(row.request)
      return nonce !== undefined && flying.some((each) => each.nonce === Number(nonce))
    },
    look: createWatcher(ethereum).look,
    lookBack: createSettlement(ethereum).lookBack,
    complete: (row) => alone(row.account ?? row.sender, () => complete(row)),
    handOver: broadcast,
  }
}

/**
 * Lets one thing after the other be done for each name. An account's own sends and sponsored ones stand in two lanes, and
 * each must see what the other has signed.
 */
function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work)
    last.set(name, turn)
    try {
      return await turn
    } finally {
      if (last.get(name) === turn) last.delete(name)
    }
  }
}
