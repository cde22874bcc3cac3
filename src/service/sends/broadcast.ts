/**
 * A signed send and the node that is to have it. INVARIANT: a nonce is given back only when nobody can have the bytes: the
 * node has refused them the first time that they were handed over, and does not know them. Where there was no answer, the
 * same bytes are handed over again, for ever.
 */

import { type EthereumNode, NodeRefusal } from '../nodes/index.ts'
import { deleteAttempts, type SendAttemptRow, type SendRow, updateSend } from '../resources/sends/store.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure } from './failure.ts'
import { changeSend, type Handover } from './family.ts'
import { readSendRequest } from './request.ts'

// Nodes word these as they like; what is meant is the same in geth, Nethermind, Besu, Erigon, reth and Anvil.
/** A transaction with the nonce is in the chain. */
const NONCE_USED = /nonce (?:is )?too low|old nonce/i
/** Another one that waits has it. */
const NONCE_FILLED = /replacement transaction underpriced|replace existing/i
/** Refusals because of the bytes themselves: no node ever takes them. */
const NEVER_TAKEN =
  /intrinsic gas|floor data gas|gas uint64|block gas limit|oversized|init ?code|type not supported|invalid (?:sender|signature|chain)|higher than max fee/i
const KNOWN = /already ?(?:known|imported|exists)|known transaction/i

/**
 * Hands over a send that is signed. `again`: it was handed over before, or may have been, and the answer was lost. Throws
 * `NodeUnreachable`.
 */
export async function broadcast(
  tools: EthereumTools,
  row: SendRow,
  attempt: SendAttemptRow,
  { again }: { readonly again: boolean },
): Promise<Handover> {
  const refusal = await handOver(tools.node, attempt)
  const request = readSendRequest(row.request)
  const said = refusal?.message ?? ''
  const lostNonce = (NONCE_USED.test(said) || NONCE_FILLED.test(said)) && request.nonce === undefined
  // Another node may have the bytes, and this one not know yet what they need: that the nonce was free, or the funds were
  // there. What becomes of them the watcher finds out. A transaction that its sender signed
  // may be with other nodes; it is never paid twice, since its signer has fixed the nonce.
  const mayBeTaken = request.kind === 'raw' ? NONCE_USED.test(said) : !NEVER_TAKEN.test(said)
  if (refusal === undefined || (again && mayBeTaken)) {
    await changeSend(tools, row, { status: 'BROADCASTING' })
    return 'broadcasting'
  }
  if (lostNonce) {
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

/** Names the relayer: the user of a sponsored send would not know whose funds the node means. */
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
    // Nodes refuse what they have already, waiting or mined; of several behind one address another may be asked next.
    return KNOWN.test(error.message) || (await node.knows(attempt.hash)) ? undefined : error
  }
}
