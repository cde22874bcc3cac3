/** Solana sends that nodes have, until they are in a block that counts, or can no longer be. */

import { NO_BLOCKHASH, prefundsOf, readSolanaDraft, sumOfPrefunds } from '../../chain/index.ts'
import { decodeBase64, encodeBase58 } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import {
  createSolanaNode,
  isNodeFault,
  NodeRefusal,
  type SignatureStatus,
  type SolanaNode,
  type SolanaRun,
} from '../nodes/index.ts'
import { listAttempts, type SendAttemptRow, type SendRow } from '../resources/sends/store.ts'
import { createDoubts } from './doubts.ts'
import { failure } from './failure.ts'
import { type CompletedSend, changeSend, noteWait } from './family.ts'
import { settleGas } from './gas-usage.ts'
import { createLaneRound } from './lane-round.ts'
import { explainRun } from './solana-failure.ts'
import { readSolanaRequest, readSolanaTerms } from './solana-request.ts'
import type { SolanaTools } from './solana-tools.ts'

/** As many as a node answers at once. */
const MAX_SIGNATURES = 256

/** As many as are followed at the same time. */
const AT_ONCE = 8

/** The offset of the durable nonce, used as a blockhash, in a nonce account: behind version, state and authority. */
const NONCE_OFFSET = 40

interface Flight {
  readonly row: SendRow
  /** The newest signed form; older ones can never be included. */
  readonly attempt: SendAttemptRow
}

/** The last block that cannot be taken back, asked once a look. */
type Finalized = SolanaNode['finalized']

/** The state of a send that a node has no status of; `doubt` says in words what keeps it from being known. */
type Fate = { readonly status: SignatureStatus } | { readonly doubt: string } | 'never' | 'unknown'

const BOTH = 'it is in a block, and not known whether it failed there: the node says both'
const notInBlock = (slot: number) => `the node says that it is in the block of slot ${slot}, and that block has it not`
const FURTHER_SILENT = 'a further node of the chain gives no answer'
const FURTHER_HAS = 'a further node of the chain has it in a block'

/** Completes and signs a send for the first time (1), or anew. */
export type Complete = (row: SendRow, number: number) => Promise<CompletedSend | 'waits'>

/** Creates what looks at the sends of a chain. Throws `NodeUnreachable`. */
export function createSolanaWatcher(tools: SolanaTools, complete: Complete) {
  const { chain, node } = tools
  const witnesses = chain.witnesses.map(createSolanaNode)
  const round = createLaneRound(tools, { atOnce: AT_ONCE })
  /** By the signature: that it never was, and never can be, in a block. */
  const denials = createDoubts(chain)
  /** By the signature: how it has ended, where one method alone tells it, or that it has failed. */
  const ends = createDoubts(chain)
  const commitment = chain.includedAfter === 1 ? 'confirmed' : 'finalized'
  const isSettled = ({ confirmationStatus }: SignatureStatus) =>
    confirmationStatus === 'finalized' || confirmationStatus === commitment

  async function look(rows: readonly SendRow[]): Promise<void> {
    for (let start = 0; start < rows.length; start += MAX_SIGNATURES) {
      await lookAtSome(rows.slice(start, start + MAX_SIGNATURES))
    }
  }

  async function lookAtSome(rows: readonly SendRow[]): Promise<void> {
    const attempts = await tools.database.read(async (tx) => {
      const newest = new Map<string, SendAttemptRow>()
      for (const row of rows) newest.set(row.id, (await listAttempts(tx, row))[0]!)
      return newest
    })
    const { statuses } = await node.statuses(
      rows.map(({ id }) => attempts.get(id)!.hash),
      { history: false },
    )
    const statusOf = new Map(rows.map(({ id }, index) => [id, statuses[index] ?? null]))
    const finalized = once(node.finalized)
    await round(rows, (row) => follow({ row, attempt: attempts.get(row.id)! }, statusOf.get(row.id)!, finalized))
  }

  async function follow(flight: Flight, status: SignatureStatus | null, finalized: Finalized): Promise<void> {
    const { hash } = flight.attempt
    if (status !== null) {
      denials.drop(hash)
      return settle(flight, status)
    }
    const fate = await tell(flight, finalized)
    if (typeof fate === 'string' || !('status' in fate)) ends.drop(hash)
    if (fate === 'never') return doubt(flight, (await finalized()).slot)
    denials.drop(hash)
    if (fate === 'unknown') return offer(flight)
    if ('status' in fate) return settle(flight, fate.status)
    await noteDoubt(flight.row, fate.doubt)
    return offer(flight)
  }

  /** Of several nodes behind one address, one may know the newest slot and not what is in older ones. */
  async function doubt(flight: Flight, slot: number): Promise<void> {
    const { hash } = flight.attempt
    if (!denials.isSaidAgain(hash, { head: slot })) return
    denials.drop(hash)
    return expire(flight)
  }

  async function settle({ row, attempt }: Flight, status: SignatureStatus): Promise<void> {
    const { hash } = attempt
    if (!isSettled(status)) return ends.drop(hash)
    if (!(await isWitnessed(hash, status))) return
    const { err } = status
    const run = await readRun(hash)
    // Told as failed, it would be paid once more under another reference.
    if (run !== undefined && (err === null) !== (run.error === null)) return noteWait(tools, row, BOTH)
    if ((run === undefined || err !== null) && !(await isBorneOut({ row, attempt }, status))) return
    ends.drop(hash)
    const transaction = decodeBase64(attempt.signed_transaction)
    const failed = { source: 'execution', run: run ?? { error: err, logs: [] }, transaction } as const
    const error = err === null ? null : JSON.stringify(await explainRun(tools, row, { ...failed, error: err }))
    // One that has failed has cost its fee alone: what it put on its signers is where it was.
    const rent = row.account !== null && err === null ? sumOfPrefunds(prefundsOf(transaction)) : 0n
    await changeSend(tools, row, { status: 'INCLUDED', hash: attempt.hash, failure: error }, async (tx) => {
      if (run?.fee !== undefined) await settleGas(tx, row, { chain, cost: BigInt(run.fee) + rent })
    })
  }

  /**
   * Whether an end counts that one method alone tells, or that is a failure: the node has reached its slot, says the same of it at a
   * later one, and has it in the block of that slot, where it keeps that.
   */
  async function isBorneOut({ row, attempt: { hash } }: Flight, { slot, err }: SignatureStatus): Promise<boolean> {
    const head = await node.slot(commitment)
    if (head < slot || !ends.isSaidAgain(hash, { head, what: JSON.stringify([slot, err]) })) return false
    if ((await node.firstAvailableBlock()) > slot) return true
    const found = await node.outcomeIn(slot, hash).catch((error: unknown) => {
      if (error instanceof NodeRefusal) return 'not kept'
      throw error
    })
    if (found === 'not kept' || found === (err === null ? 'succeeded' : 'failed')) return true
    if (found !== undefined) await noteWait(tools, row, found === 'absent' ? notInBlock(slot) : BOTH)
    return false
  }

  const noteDoubt = (row: SendRow, doubt: string) =>
    noteWait(tools, row, `it is not known whether it was included: ${doubt}`)

  /** Whether each further node has it as settled too, with the same end. Throws where one cannot be asked. */
  async function isWitnessed(hash: string, { err }: SignatureStatus): Promise<boolean> {
    const said = witnesses.map(async (witness) => {
      const [status] = (await witness.statuses([hash], { history: true })).statuses
      return status ? isSettled(status) && (status.err === null) === (err === null) : false
    })
    return (await Promise.all(said)).every(Boolean)
  }

  /** What it did in its block; nothing where the node does not keep that, or does not have it as settled. */
  async function readRun(signature: string): Promise<SolanaRun | undefined> {
    try {
      return await node.transaction(signature, { commitment })
    } catch (error) {
      if (error instanceof NodeRefusal) return undefined
      throw error
    }
  }

  /** Nodes keep nothing that is not included at once; what was lost on the way, or is now, is offered again. */
  async function offer({ attempt }: Flight): Promise<void> {
    await node.sendRaw(attempt.signed_transaction).catch((error: unknown) => {
      if (!isNodeFault(error)) throw error
    })
  }

  /**
   * INVARIANT: `never` is said when no block that counts has the transaction, nor can have it: what it was made with was gone
   * by a block that cannot be taken back, and no node of the chain, each of which knows that block and all since the signing, has
   * seen it, by whichever method would tell of it. It is believed when it is said again of a later slot.
   */
  async function tell({ row, attempt }: Flight, finalized: Finalized): Promise<Fate> {
    try {
      return await readFate({ row, attempt }, finalized)
    } catch (error) {
      // Such as of a node that keeps no history: others on the chain must not wait for this one.
      if (!(error instanceof NodeRefusal)) throw error
      tools.logger.warn('a send’s fate is unknown', {
        caip2: row.caip2,
        signature: attempt.hash,
        reason: error.message,
      })
      return { doubt: error.message }
    }
  }

  async function readFate({ row, attempt }: Flight, finalized: Finalized): Promise<Fate> {
    const gone = await goneBySlot(attempt, finalized)
    if (gone === undefined) return 'unknown'
    const fate = await readFateBy(node, attempt, gone)
    if (fate !== 'never') return fate
    for (const witness of witnesses) {
      const other = await readFateBy(witness, attempt, gone).catch(async (error: unknown) => {
        if (!(error instanceof NodeRefusal)) await noteDoubt(row, FURTHER_SILENT)
        throw error
      })
      if (other === 'never') continue
      return typeof other === 'object' && 'status' in other ? { doubt: FURTHER_HAS } : other
    }
    return 'never'
  }

  /** A node, or what stands before it, may have lost what it answers one method from: each that would tell of a transaction is asked. */
  async function readFateBy(node: SolanaNode, attempt: SendAttemptRow, gone: number): Promise<Fate> {
    const { slot, statuses } = await node.statuses([attempt.hash], { history: true })
    const [status] = statuses
    if (status) return { status }
    if (slot < gone) return 'unknown'
    if (!((await node.firstAvailableBlock()) <= readSolanaTerms(attempt).slot))
      return { doubt: 'the node keeps no blocks from when it was signed: serve the chain with one that does' }
    const { signers, nonceAccount, blockhash } = readSolanaDraft(decodeBase64(attempt.signed_transaction))
    if (nonceAccount === undefined && (await node.isBlockhashValid(blockhash))) return 'unknown'
    const listed = await node.signaturesOf(signers[0]!, { after: readSolanaTerms(attempt).slot, at: gone })
    const found = listed.find(({ signature }) => signature === attempt.hash)
    if (found) return { status: found }
    if ((await node.bytesOf(attempt.hash)) === undefined) return 'never'
    return { doubt: 'the node has the transaction, and no status of it' }
  }

  /** The slot by which the transaction's blockhash, or nonce, was gone for good; none while it may be used. */
  async function goneBySlot(
    { signed_transaction, terms }: SendAttemptRow,
    finalized: Finalized,
  ): Promise<number | undefined> {
    const { blockhash, lastValidBlockHeight } = readSolanaTerms({ terms })
    const { nonceAccount } = readSolanaDraft(decodeBase64(signed_transaction))
    if (nonceAccount === undefined) {
      const { slot, blockHeight } = await finalized()
      return blockHeight > lastValidBlockHeight ? slot : undefined
    }
    const { slot, data } = await node.finalizedAccount(nonceAccount)
    const nonce = data === undefined ? '' : encodeBase58(decodeBase64(data).subarray(NONCE_OFFSET, NONCE_OFFSET + 32))
    return nonce === blockhash ? undefined : slot
  }

  /** What the service has dated may be dated anew; what the caller has dated may not. */
  async function expire({ row, attempt }: Flight): Promise<void> {
    if (isRefused(row)) return changeSend(tools, row, { status: 'FAILED', failure: row.failure })
    const { blockhash, nonceAccount } = readSolanaDraft(decodeBase64(readSolanaRequest(row.request).transaction))
    if (blockhash !== NO_BLOCKHASH) {
      const message =
        nonceAccount === undefined
          ? `blockhash ${blockhash}, which the caller has set, expired before the transaction was included`
          : `nonce ${blockhash} of ${nonceAccount} was used for another transaction`
      return changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(failure(message)) })
    }
    const completion = await complete(row, attempt.number + 1)
    if (completion === 'waits') return
    if ('failure' in completion) {
      return changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(completion.failure) })
    }
    if (row.failure !== null) await changeSend(tools, row, { failure: null })
    return offer({ row, attempt: completion.attempt })
  }

  return { look }
}

/** Whether a node has refused for good what it was handed. */
function isRefused({ failure }: SendRow): boolean {
  return failure !== null && (JSON.parse(failure) as Wire.TxError).solana?.source === 'broadcast'
}

/** Asks once, and again after a question that had no answer. */
function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | undefined
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined
      throw error
    })
    return answer
  }
}
