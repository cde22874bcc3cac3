/**
 * From a request to a signed transaction (facts: chain §7): gas, fees and nonce are filled in where the caller has left them
 * out. The signed bytes are in the store before anybody else has them.
 */
import { encodeEthereum } from '../../chain/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { readContractInterfaces } from '../signing/contract-interfaces.ts'
import type { Transaction } from '../store/index.ts'
import type { SendRow } from '../store/schema.ts'
import { findFlyingAttempt, listNonces, updateSend } from '../store/sends.ts'
import { type Completion, feesOf, signAttempt } from './attempt.ts'
import { type EthereumCall, type EthereumNode, type Fees, raiseFees } from './ethereum.ts'
import { failure, revertFailure } from './failure.ts'
import type { SendTools } from './family.ts'
import { NodeRefusal } from './node.ts'
import { readSendRequest, type SendRequest } from './request.ts'

/** A fifth more than the node has needed: what a call meets may change until it is mined. */
const withMargin = (gas: bigint) => (gas * 6n) / 5n

/**
 * Completes and signs a send that has not been signed yet. A caller who sets `gasLimit` has decided that the call is sent,
 * so that only calls without it are tried first. Throws `NodeUnreachable`.
 */
export async function completeSend(tools: SendTools, node: EthereumNode, row: SendRow): Promise<Completion> {
  const request = readSendRequest(row.request)
  if (request.kind === 'raw') throw new Error('a send that came signed has lost its bytes')
  const call = { from: row.sender, to: request.to, value: BigInt(request.value), data: request.data }
  const served = await node.chainId()
  if (row.caip2 !== `eip155:${served}`) {
    return { failure: failure(`the node that is set for ${row.caip2} serves chain eip155:${served}`) }
  }
  const gas = request.gasLimit === undefined ? await estimateGas(tools, node, row, call) : BigInt(request.gasLimit)
  if (typeof gas !== 'bigint') return gas
  const fees = await chooseFees(request, node, await feesToBeat(tools, row, request))
  const pendingCount = await node.pendingCount(row.sender)
  return tools.database.write(async (tx) => {
    const nonce = request.nonce === undefined ? await nextNonce(tx, row, Number(pendingCount)) : Number(request.nonce)
    const unsigned = encodeEthereum(2, {
      chain_id: served,
      nonce: BigInt(nonce),
      max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
      max_fee_per_gas: fees.maxFeePerGas,
      gas,
      ...(call.to === '' ? {} : { to: call.to }),
      value: call.value,
      data: call.data,
    })
    const made = await signAttempt(tools, tx, row, { unsigned, number: 1 })
    if ('failure' in made) return made
    await updateSend(tx, row, { nonce, hash: made.attempt.hash, updated_at: tools.clock() })
    return made
  })
}

async function estimateGas(
  { database }: SendTools,
  node: EthereumNode,
  row: SendRow,
  call: EthereumCall,
): Promise<bigint | { readonly failure: Wire.TxError }> {
  try {
    return withMargin(await node.estimateGas(call))
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
    const { data: output, message } = error
    if (output === undefined) return { failure: failure(message) }
    const interfaces = await database.read((tx) => readContractInterfaces({ tx, organizationId: row.organization_id }))
    return { failure: revertFailure({ to: call.to, output, error: message }, interfaces) }
  }
}

/** What a send offers that flies with the very nonce that the caller has set: the new one is to take its place. */
async function feesToBeat(
  { database }: SendTools,
  { caip2, sender }: SendRow,
  { nonce }: SendRequest,
): Promise<Fees | undefined> {
  if (nonce === undefined) return undefined
  const flying = await database.read((tx) => findFlyingAttempt(tx, { caip2, sender, nonce: Number(nonce) }))
  return flying === undefined ? undefined : feesOf(flying)
}

/** What the caller has set counts, the node is asked for the rest; the tip is never above all that is offered. */
async function chooseFees(
  { maxFeePerGas, maxPriorityFeePerGas }: SendRequest,
  node: EthereumNode,
  beaten: Fees | undefined,
): Promise<Fees> {
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined) {
    return withinLimit(BigInt(maxFeePerGas), BigInt(maxPriorityFeePerGas))
  }
  const suggested = await node.suggestFees()
  const raised = beaten === undefined ? suggested : raiseFees(beaten, suggested)
  if (maxFeePerGas !== undefined) return withinLimit(BigInt(maxFeePerGas), raised.maxPriorityFeePerGas)
  if (maxPriorityFeePerGas === undefined) return raised
  const tip = BigInt(maxPriorityFeePerGas)
  return { maxFeePerGas: raised.maxFeePerGas - raised.maxPriorityFeePerGas + tip, maxPriorityFeePerGas: tip }
}

function withinLimit(maxFeePerGas: bigint, tip: bigint): Fees {
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas }
}

/** The lowest that neither the chain's node nor a send of ours has: no gap, and no two alike. */
async function nextNonce(tx: Transaction, { caip2, sender }: SendRow, pendingCount: number): Promise<number> {
  const taken = new Set(await listNonces(tx, { caip2, sender, from: pendingCount }))
  let nonce = pendingCount
  while (taken.has(nonce)) nonce++
  return nonce
}
