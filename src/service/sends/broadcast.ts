/**
 * A signed send and the node that is to have it. INVARIANT: a nonce is given back only when the node has refused the bytes
 * and does not know them; where there was no answer, the same bytes are handed over again, for ever.
 */
import type { SendAttemptRow, SendRow } from '../store/schema.ts'
import { deleteAttempts, updateSend } from '../store/sends.ts'
import type { EthereumNode } from './ethereum.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure } from './failure.ts'
import { changeSend, type Handover } from './family.ts'
import { NodeRefusal } from './node.ts'
import { readSendRequest } from './request.ts'

/** Nodes word these as they like; what is meant is the same in geth, Nethermind, Besu, Erigon, reth and Anvil. */
const REFUSALS = [
  // Somebody else has used the nonce, or fills it with another transaction.
  {
    meaning: 'nonce-taken',
    words: /nonce (?:is )?too low|replacement transaction underpriced|replace existing|old nonce/i,
  },
  { meaning: 'busy', words: /pool is full|rate limit|limit exceeded|too many|try again|temporarily/i },
] as const

/** Hands over a send that is signed, for the first time or after an answer was lost. Throws `NodeUnreachable`. */
export async function broadcast(tools: EthereumTools, row: SendRow, attempt: SendAttemptRow): Promise<Handover> {
  const refusal = await handOver(tools.node, attempt)
  if (refusal === undefined) {
    await changeSend(tools, row, { status: 'BROADCASTING' })
    return 'broadcasting'
  }
  const meaning = REFUSALS.find(({ words }) => words.test(refusal.message))?.meaning
  if (meaning === 'busy') return 'later'
  const request = readSendRequest(row.request)
  if (meaning === 'nonce-taken' && request.nonce === undefined) {
    await tools.database.write(async (tx) => {
      await deleteAttempts(tx, row)
      await updateSend(tx, row, { nonce: null, hash: null, updated_at: tools.clock() })
    })
    return 'later'
  }
  const error = JSON.stringify(failure(explain(row, refusal)))
  // One that came signed is asked for by its hash.
  const hash = request.kind === 'raw' ? row.hash : null
  await changeSend(tools, row, { status: 'FAILED', nonce: null, hash, failure: error })
  return 'failed'
}

/** Who has asked for a sponsored send does not know whose funds the node means. */
function explain({ account, sender }: SendRow, { message }: NodeRefusal): string {
  if (account === null || !/insufficient (?:funds|balance)/i.test(message)) return message
  return `the service's relayer ${sender}, which pays for sponsored sends, is out of funds: ${message}`
}

/** Hands over the bytes; says why not, when the node does not have them afterwards. */
export async function handOver(node: EthereumNode, attempt: SendAttemptRow): Promise<NodeRefusal | undefined> {
  try {
    await node.sendRaw(attempt.signed_transaction)
    return undefined
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
    // Nodes refuse what they have already, waiting or mined.
    return (await node.knows(attempt.hash)) ? undefined : error
  }
}
