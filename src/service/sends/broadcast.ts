/**
 * A signed send and the node that is to have it. INVARIANT: a nonce is given back when the transaction that has used it is
 * known. A send is given up when a node has refused it when it was first handed over and again at a later head, and has not
 * known it either time. Where there was no answer, the same bytes are handed over again, for ever.
 */

import { type EthereumNode, NodeRefusal } from '../nodes/index.ts'
import { putForeign } from '../resources/sends/lanes-store.ts'
import {
  deleteAttempts,
  listAttempts,
  type SendAttemptRow,
  type SendRow,
  updateSend,
} from '../resources/sends/store.ts'
import { createDoubts } from './doubts.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure } from './failure.ts'
import { type ChainFamily, changeSend, type Handover, noteWait } from './family.ts'
import { isWitnessed } from './included.ts'
import { toForeign } from './lane.ts'
import { findNonceUser } from './nonce-user.ts'
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

/** Creates what hands signed sends over. */
export function createBroadcast(tools: EthereumTools): ChainFamily['handOver'] {
  const { node, chain, clock, database } = tools
  /** By the send: those that were refused when they were first handed over. Who is not in here may be with a node. */
  const doubts = createDoubts(chain)

  /**
   * `again`: it was handed over before, or may have been, and the answer was lost. One look decides nothing: a node that has
   * taken the bytes can refuse them, and another behind the same address not know them yet. Throws `NodeUnreachable`.
   */
  return async (row, attempt, { again }) => {
    const refusal = await handOver(node, attempt)
    const isFirst = !doubts.has(row.id)
    const mayBeTaken = again && isFirst && !isOfBytes(row, refusal)
    if (refusal === undefined || mayBeTaken) {
      doubts.drop(row.id)
      await changeSend(tools, row, { status: 'BROADCASTING', failure: null })
      return 'broadcasting'
    }
    if (!doubts.isSaidAgain(row.id, { head: await node.blockNumber() })) {
      if (isFirst) await noteWait(tools, row, `the node has refused it, and is asked again: ${explain(row, refusal)}`)
      return 'later'
    }
    const outcome = isNonceLost(row, refusal) ? await giveNonceBack(row) : await giveUp(row, refusal)
    if (outcome !== 'later') doubts.drop(row.id)
    return outcome === 'free' ? 'later' : outcome
  }

  /** Frees a send of its nonce once it is known which other transaction has that. */
  async function giveNonceBack(row: SendRow): Promise<Handover | 'free'> {
    const user = await findNonceUser(node, { address: row.sender, nonce: BigInt(row.nonce!) })
    const attempts = await database.read((tx) => listAttempts(tx, row))
    if (attempts.some(({ hash }) => hash === user?.hash)) {
      await changeSend(tools, row, { status: 'BROADCASTING', failure: null })
      return 'broadcasting'
    }
    if (user === undefined || !(await isWitnessed(tools, user))) {
      await noteWait(tools, row, `a node says that nonce ${row.nonce} was used, and it is not known by what`)
      return 'later'
    }
    const payment = await node.payment(user.hash)
    if (payment === undefined) return 'later'
    const nonce = row.nonce!
    await database.write(async (tx) => {
      await putForeign(tx, { ...toForeign(row, { ...user, nonce, payment }), send_id: null, is_other: 0 })
      await deleteAttempts(tx, row)
      await updateSend(tx, row, { nonce: null, hash: null, failure: null, updated_at: clock() })
    })
    return 'free'
  }

  async function giveUp(row: SendRow, refusal: NodeRefusal): Promise<Handover> {
    const error = JSON.stringify(failure(explain(row, refusal)))
    // One that came signed is asked for by its hash.
    const hash = isRaw(row) ? row.hash : null
    await changeSend(tools, row, { status: 'FAILED', nonce: null, hash, failure: error })
    return 'failed'
  }
}

const isRaw = ({ request }: SendRow) => readSendRequest(request).kind === 'raw'

/**
 * Whether a refusal is about the bytes themselves. A transaction that its sender signed is never paid twice, since its signer
 * has fixed the nonce.
 */
function isOfBytes(row: SendRow, refusal: NodeRefusal | undefined): boolean {
  const said = refusal?.message ?? ''
  return isRaw(row) ? !NONCE_USED.test(said) : NEVER_TAKEN.test(said)
}

/** Whether the nonce that the service has chosen is somebody else's, as far as a node says. */
function isNonceLost({ request }: SendRow, { message }: NodeRefusal): boolean {
  return (NONCE_USED.test(message) || NONCE_FILLED.test(message)) && readSendRequest(request).nonce === undefined
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
