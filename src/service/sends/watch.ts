/** A send that the node has, until it is in a block that counts, or can no longer be. */

import { withFees } from '../../chain/index.ts'
import { decodeHex } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import {
  executionRelays,
  hexQuantity,
  NodeRefusal,
  NodeUnreachable,
  otherChain,
  type Receipt,
  raiseFees,
  toRpcCall,
} from '../nodes/index.ts'
import { findIncluded, listAttempts, type SendAttemptRow, type SendRow } from '../resources/sends/store.ts'
import { callOf, feesOf, signAttempt } from './attempt.ts'
import { handOver } from './broadcast.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { type FailedCall, failure, revertFailure, toFailedCall } from './failure.ts'
import { apart, changeSend } from './family.ts'
import { settleGas } from './gas-usage.ts'
import { readInterfaces } from './interfaces-of-send.ts'
import { readSendRequest } from './request.ts'

export interface Watcher {
  /** Looks at the sends of one address once. Throws `NodeUnreachable`. */
  look(sender: string, flying: readonly SendRow[]): Promise<void>
}

/** Nodes behind one address may differ for a moment: what ends a send for good must be seen this often in a row. */
const TURNS_UNTIL_REPLACED = 3

/** A send is offered for more until it offers so many times what the node would: nobody has asked for whatever it takes. */
const MOST_OVER_SUGGESTED = 10n

/** Creates what looks after the sends of a chain. */
export function createWatcher(tools: EthereumTools): Watcher {
  const { chain, node } = tools
  const replacedTurns = new Map<string, number>()

  async function look(sender: string, flying: readonly SendRow[]): Promise<void> {
    const latest = await node.blockNumber()
    const settled = latest - BigInt(chain.confirmations - 1)
    // Before the receipts: a count from after them could be that of a block they were not in yet.
    const minedCount = await node.minedCount(sender, settled > 0n ? settled : 0n)
    const newest = new Map(flying.map(({ nonce, id }) => [nonce, id]))
    for (const row of flying) {
      const wanted = newest.get(row.nonce) === row.id
      await apart(tools, row, () => lookAt(row, { settled, minedCount, wanted }))
    }
  }

  /** Of several with the same nonce the newest is wanted: those that it is to replace must not come back. */
  async function lookAt(
    row: SendRow,
    { settled, minedCount, wanted }: { settled: bigint; minedCount: bigint; wanted: boolean },
  ): Promise<void> {
    const attempts = await tools.database.read((tx) => listAttempts(tx, row))
    const included = await findReceipt(attempts)
    if (included !== undefined) {
      if (included.receipt.blockNumber <= settled) await settle(row, included)
      return
    }
    if (minedCount > BigInt(row.nonce!)) return replaced(row)
    replacedTurns.delete(row.id)
    if (!wanted) return
    const [newest] = attempts
    if (tools.clock() - newest!.created_at >= chain.bumpAfterMs && (await bump(row, newest!))) return
    for (const attempt of attempts) {
      // A node that was restarted, or a block that was taken back, may have lost it.
      if (!(await node.knows(attempt.hash))) await handOver(node, attempt)
    }
  }

  async function findReceipt(attempts: readonly SendAttemptRow[]) {
    for (const attempt of attempts) {
      const receipt = await node.receipt(attempt.hash)
      if (receipt !== undefined) return { attempt, receipt }
    }
    return undefined
  }

  async function settle(
    row: SendRow,
    { attempt, receipt }: { readonly attempt: SendAttemptRow; readonly receipt: Receipt },
  ): Promise<void> {
    const error = receipt.succeeded ? null : JSON.stringify(await explainRevert(row, attempt, receipt))
    await changeSend(tools, row, { status: 'INCLUDED', hash: attempt.hash, failure: error }, (tx) =>
      settleGas(tx, row, { chain, cost: receipt.cost }),
    )
  }

  async function explainRevert(row: SendRow, attempt: SendAttemptRow, receipt: Receipt): Promise<Wire.TxError> {
    const isExecution = readSendRequest(row.request).kind === 'execution'
    return revertFailure(await readFailedCall(row, attempt, receipt), {
      interfaces: await readInterfaces(tools, row),
      relays: isExecution ? executionRelays(row.account ?? row.sender, chain.gasStation) : [],
    })
  }

  /** By the node's tracer; one that has none runs the call again, upon the state before its block. */
  async function readFailedCall(row: SendRow, attempt: SendAttemptRow, { blockNumber }: Receipt): Promise<FailedCall> {
    try {
      const asked = [attempt.hash, { tracer: 'callTracer' }]
      const traced = await node.node.request<FailedCall | null>('debug_traceTransaction', asked)
      if (typeof traced?.error === 'string') return traced
    } catch (error) {
      // Tracing takes long, and providers charge for it: that it is in a block must not wait for this.
      if (!(error instanceof NodeRefusal || error instanceof NodeUnreachable)) throw error
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

  /** Another transaction with the nonce is in the chain: this one never will be. */
  async function replaced(row: SendRow): Promise<void> {
    const turns = (replacedTurns.get(row.id) ?? 0) + 1
    replacedTurns.set(row.id, turns)
    if (turns < TURNS_UNTIL_REPLACED) return
    // What an account has sent elsewhere has replaced nothing here.
    const elsewhere = otherChain(row.caip2, await node.chainId())
    if (elsewhere !== undefined) throw new NodeUnreachable(elsewhere)
    replacedTurns.delete(row.id)
    const nonce = row.nonce!
    const ours = await tools.database.read((tx) => findIncluded(tx, { ...row, nonce }))
    const by = ours === undefined ? 'another transaction' : `transaction ${ours.hash}`
    const message = `replaced by ${by} of ${row.sender} with nonce ${nonce}, which was included`
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
    const suggested = await node.suggestFees()
    // It is not the price that keeps it out of a block.
    if (offered.maxFeePerGas > MOST_OVER_SUGGESTED * suggested.maxFeePerGas) return false
    const fees = raiseFees(offered, suggested)
    const form = { unsigned: withFees(decodeHex(newest.signed_transaction), fees), number: newest.number + 1 }
    const made = await tools.database.write((tx) => signAttempt(tools, tx, row, form))
    if ('failure' in made) return false
    const refusal = await handOver(node, made.attempt)
    if (refusal === undefined) await changeSend(tools, row, { hash: made.attempt.hash })
    return true
  }

  return { look }
}
