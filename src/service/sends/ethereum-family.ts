import { listAttempts } from '../store/sends.ts'
import { broadcast } from './broadcast.ts'
import { completeSend } from './completion.ts'
import { createEthereumNode } from './ethereum.ts'
import { type CreateChainFamily, changeSend } from './family.ts'
import { readSendRequest } from './request.ts'
import { createWatcher } from './watch.ts'

/** As many of one address as every node keeps waiting (geth's `accountslots`). */
const MAX_IN_FLIGHT = 16

/** Sends on a chain of the namespace eip155. */
export const createEthereumFamily: CreateChainFamily = (tools, chain) => {
  const node = createEthereumNode(chain.node)
  return {
    maxInFlight: MAX_IN_FLIGHT,
    replaces(row, flying) {
      const { nonce } = readSendRequest(row.request)
      return nonce !== undefined && flying.some((each) => each.nonce === Number(nonce))
    },
    look: createWatcher(tools, chain, node).look,
    async launch(row) {
      const [signed] = await tools.database.read((tx) => listAttempts(tx, row))
      if (signed) return broadcast(tools, node, row, signed)
      const completion = await completeSend(tools, node, row)
      if ('attempt' in completion) return broadcast(tools, node, row, completion.attempt)
      await changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(completion.failure) })
      return 'failed'
    },
  }
}
