/** A send that the node has, until it is in a block that counts, or can no longer be. */

import { withFees } from '../../chain/index.ts'
import { decodeHex } from '../../encoding/index.ts'
import { replacedText, type Wire } from '../../protocol/index.ts'
import { isFinal, offerFees } from '../chains/index.ts'
import {
  executionRelays,
  hexQuantity,
  isNodeFault,
  NodeRefusal,
  NodeUnreachable,
  otherChain,
  type Receipt,
  raiseFees,
  toRpcCall,
} from '../nodes/index.ts'
import { listAttempts, type SendAttemptRow, type SendRow } from '../resources/sends/store.ts'
import { callOf, feesOf, signAttempt } from './attempt.ts'
import { handOver } from './broadcast.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { type FailedCall, failure, revertFailure, toFailedCall } from './failure.ts'
import { changeSend, noteWait } from './family.ts'
import { settleGas } from './gas-usage.ts'
import { findIncludedForm, type Included, isWitnessed } from './included.ts'
import { readInterfaces } from './interfaces-of-send.ts'
import { createLaneRound } from './lane-round.ts'
import { findNonceUser } from './nonce-user.ts'
import { readSendRequest } from './request.ts'

export interface Watcher {
  /** Looks at the sends of one address once. Throws `NodeUnreachable`. */
  look(sender: string, flying: readonly SendRow[]): Promise<void>
}

/** Creates what looks after the sends of a chain. */
export function createWatcher(tools: EthereumTools): Watcher {
  const { chain, node } = tools
  const round = createLaneRound(tools)
  /** By the send: the hash of what was found in its place at the last look. */
  const lastFound = new Map<string, string>()
  /** By the send: the hash of the block in which the last look saw it reverted. */
  const lastReverted = new Map<string, string>()

  async function look(sender: string, flying: readonly SendRow[]): Promise<void> {
    const latest = await node.blockNumber()
    // Before the receipts: a count from after them could be that of a block they were not in yet.
    const minedCount = await node.minedCount(sender, latest)
    const newest = new Map(flying.map(({ nonce, id }) => [nonce, id]))
    await round(flying, (row) => lookAt(row, { latest, minedCount, wanted: newest.get(row.nonce) === row.id }))
  }

  /** Of several with the same nonce the newest is wanted: those that it is to replace must not come back. */
  async function lookAt(
    row: SendRow,
    { latest, minedCount, wanted }: { latest: bigint; minedCount: bigint; wanted: boolean },
  ): Promise<void> {
    const attempts = await tools.database.read((tx) => listAttempts(tx, row))
    const included = await findIncludedForm(node, row, attempts)
    if (included !== undefined) {
      const { blockNumber } = included.receipt
      if (isFinal({ confirmations: chain.includedAfter }, { number: blockNumber, latest }))
        await settle(row, { ...included, latest })
      return
    }
    if (minedCount > BigInt(row.nonce!)) return replaced(row, { latest, attempts })
    lastFound.delete(row.id)
    if (row.failure !== null) await changeSend(tools, row, { failure: null })
    if (!wanted) return
    const [newest] = attempts
    const isDue = chain.bump === 'auto' && tools.clock() - newest!.created_at >= chain.bumpAfterMs
    if (isDue && (await bump(row, newest!))) return
    for (const attempt of attempts) {
      // A node that was restarted, or a block that was taken back, may have lost it.
      if (!(await node.knows(attempt.hash))) await handOver(node, attempt)
    }
  }

  async function settle(
    row: SendRow,
    { attempt, receipt, latest }: Included & { readonly latest: bigint },
  ): Promise<void> {
    const reverted = receipt.succeeded ? await readSuccess(attempt, receipt) : await readRevert(row, attempt, receipt)
    if (reverted === 'doubtful') return
    const error = reverted && JSON.stringify(reverted)
    const { blockNumber: number, cost, succeeded } = receipt
    const { hash } = attempt
    const isSettled =
      isFinal(chain, { number, latest }) && (await isWitnessed(tools, { hash, blockNumber: number, succeeded }))
    lastReverted.delete(row.id)
    const change = { hash, failure: error, unsettled_block: isSettled ? null : Number(number) }
    await changeSend(tools, row, { status: 'INCLUDED', ...change }, (tx) => settleGas(tx, row, { chain, cost }))
  }

  /** Nothing, where a second answer says so too: one field of one says that a payee has it, and who is told so ships. */
  async function readSuccess({ hash }: SendAttemptRow, { blockHash }: Receipt): Promise<null | 'doubtful'> {
    const again = await node.receipt(hash)
    return again?.succeeded === true && again.blockHash === blockHash ? null : 'doubtful'
  }

  /**
   * Why it was reverted. One field of one answer says that it was, and a payer who believes it pays again: it counts by two looks, by every
   * further node, and neither against the block's own hash, which its receipts must fit, nor against the node's own tracer.
   */
  async function readRevert(
    row: SendRow,
    attempt: SendAttemptRow,
    receipt: Receipt,
  ): Promise<Wire.TxError | 'doubtful'> {
    const { hash } = attempt
    const isSeenAgain = lastReverted.get(row.id) === receipt.blockHash
    lastReverted.set(row.id, receipt.blockHash)
    if (!isSeenAgain) return 'doubtful'
    const says = `a node says that it was reverted in block ${receipt.blockNumber}`
    if (await node.outcomeByRoot(receipt.blockNumber, hash)) {
      await noteWait(tools, row, `${says}, and the receipts that its hash stands for say that it was not`)
      return 'doubtful'
    }
    const failed = await readFailedCall(row, attempt, receipt)
    const agrees = failed !== undefined && (await isWitnessed(tools, { ...receipt, hash }))
    if (!agrees) {
      const other = failed === undefined ? 'its trace says that it was not' : 'a further node does not say so'
      await noteWait(tools, row, `${says}, and ${other}`)
      return 'doubtful'
    }
    const isExecution = readSendRequest(row.request).kind === 'execution'
    return revertFailure(failed, {
      interfaces: await readInterfaces(tools, row),
      relays: isExecution ? executionRelays(row.account ?? row.sender, chain.gasStation) : [],
    })
  }

  /**
   * By the node's tracer, whose word it is where there is no such call; a node that has none runs the call again, upon the state before
   * its block.
   */
  async function readFailedCall(
    row: SendRow,
    attempt: SendAttemptRow,
    { blockNumber }: Receipt,
  ): Promise<FailedCall | undefined> {
    try {
      const asked = [attempt.hash, { tracer: 'callTracer' }]
      const traced = await node.node.request<Partial<FailedCall & { type: string }> | null>(
        'debug_traceTransaction',
        asked,
      )
      if (typeof traced?.error === 'string') return traced as FailedCall
      // The frame of a call that has not failed.
      if (typeof traced?.type === 'string') return undefined
    } catch (error) {
      // Tracing takes long, and providers charge for it: that it is in a block must not wait for this.
      if (!isNodeFault(error)) throw error
    }
    const call = callOf(row, attempt)
    try {
      await node.node.request('eth_call', [toRpcCall(call), hexQuantity(blockNumber - 1n)])
      return { to: call.to }
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      return toFailedCall(call.to, error)
    }
  }

  /**
   * The nonce was used, as far as a node says, and by none of the send's own forms. It is at its end when the transaction that
   * has used it is known, by two looks and by every further node, in a block that is settled: then nothing brings it back.
   */
  async function replaced(
    row: SendRow,
    { latest, attempts }: { readonly latest: bigint; readonly attempts: readonly SendAttemptRow[] },
  ): Promise<void> {
    const nonce = row.nonce!
    const user = await findNonceUser(node, { address: row.sender, nonce: BigInt(nonce) })
    if (user === undefined) {
      return noteWait(tools, row, `a node says that nonce ${nonce} was used, and it is not known by what`)
    }
    // The node has it in a block, and has not told its receipt yet.
    if (attempts.some(({ hash }) => hash === user.hash)) return
    const isSeenAgain = lastFound.get(row.id) === user.hash
    lastFound.set(row.id, user.hash)
    if (!isSeenAgain || !isFinal(chain, { number: user.blockNumber, latest }) || !(await isWitnessed(tools, user)))
      return
    // What an account has sent elsewhere has replaced nothing here.
    const elsewhere = otherChain(row.caip2, await node.chainId())
    if (elsewhere !== undefined) throw new NodeUnreachable(elsewhere)
    lastFound.delete(row.id)
    const message = replacedText({ hash: user.hash, sender: row.sender, nonce })
    await changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(failure(message)) })
  }

  /**
   * Sends it again for more where that may help, unless the caller has fixed what it costs, or has signed it. Says whether
   * it did.
   */
  async function bump(row: SendRow, newest: SendAttemptRow): Promise<boolean> {
    const request = readSendRequest(row.request)
    if (request.kind === 'raw' || request.maxFeePerGas !== undefined) return false
    // The others wait for one with a lower nonce, whatever they offer.
    if ((await node.latestCount(row.sender)) !== BigInt(row.nonce!)) return false
    const offered = feesOf(newest)
    const { fees: suggested, ceiling } = await offerFees(node, chain)
    const fees = raiseFees(offered, suggested)
    // It is not the price that keeps it out of a block, or it is one that nobody has asked to be paid.
    if (fees.maxFeePerGas > ceiling) return false
    const form = { unsigned: withFees(decodeHex(newest.signed_transaction), fees), number: newest.number + 1 }
    const made = await tools.database.write((tx) => signAttempt(tools, tx, row, form))
    if ('failure' in made) return false
    const refusal = await handOver(node, made.attempt)
    if (refusal === undefined) await changeSend(tools, row, { hash: made.attempt.hash })
    return true
  }

  return { look }
}
