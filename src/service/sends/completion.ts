/**
 * From a request to a signed transaction (facts: chain §7): gas, fees and nonce are filled in where the caller has left them
 * out. The signed bytes are in the store before anybody else has them.
 */
import { encodeEthereum, encodeSignedEthereum, ethereumDigest, signBytes } from '../../chain/index.ts'
import { keccak256 } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { readContractInterfaces } from '../signing/contract-interfaces.ts'
import { findSigner, withSigningKey } from '../signing/signer.ts'
import type { Transaction } from '../store/index.ts'
import type { SendAttemptRow, SendRow } from '../store/schema.ts'
import { insertAttempt, listNonces, updateSend } from '../store/sends.ts'
import type { EthereumCall, EthereumNode, Fees } from './ethereum.ts'
import { failure, revertFailure } from './failure.ts'
import type { SendTools } from './family.ts'
import { NodeRefusal } from './node.ts'
import { readSendRequest, type SendRequest } from './request.ts'

/** Either the first signed form of a send, or why there is none. */
export type Completion = { readonly attempt: SendAttemptRow } | { readonly failure: Wire.TxError }

/** A fifth more than the node has needed: what a call meets may change until it is mined. */
const withMargin = (gas: bigint) => (gas * 6n) / 5n

/**
 * Completes and signs a send that has not been signed yet. A caller who sets `gasLimit` has decided that the call is sent,
 * so that only calls without it are tried first. Throws `NodeUnreachable`.
 */
export async function completeSend(tools: SendTools, node: EthereumNode, row: SendRow): Promise<Completion> {
  const request = readSendRequest(row.request)
  const call = callOf(row, request)
  const served = await node.chainId()
  if (row.caip2 !== `eip155:${served}`) {
    return { failure: failure(`the node that is set for ${row.caip2} serves chain eip155:${served}`) }
  }
  const gas = request.gasLimit === undefined ? await estimateGas(tools, node, row, call) : BigInt(request.gasLimit)
  if (typeof gas !== 'bigint') return gas
  const fees = await chooseFees(request, node)
  const pendingCount = await node.pendingCount(row.sender)
  return tools.database.write(async (tx) => {
    const nonce = request.nonce === undefined ? await nextNonce(tx, row, Number(pendingCount)) : Number(request.nonce)
    const attempt = await signAttempt(tools, tx, row, { call, gas, fees, nonce, number: 1 })
    if ('failure' in attempt) return attempt
    await updateSend(tx, row, { nonce, hash: attempt.attempt.hash, updated_at: tools.clock() })
    return attempt
  })
}

/** Signs one form of a send and keeps it. */
export async function signAttempt(
  { sealing, clock }: SendTools,
  tx: Transaction,
  row: SendRow,
  form: {
    readonly call: EthereumCall
    readonly gas: bigint
    readonly fees: Fees
    readonly nonce: number
    readonly number: number
  },
): Promise<Completion> {
  const { call, gas, fees, nonce, number } = form
  const context = { tx, organizationId: row.organization_id, unseal: sealing.unseal }
  const signer = await findSigner(context, row.sender).catch(() => undefined)
  if (signer === undefined) return { failure: failure(`the key of ${row.sender} is gone`) }
  const unsigned = encodeEthereum(2, {
    chain_id: BigInt(row.caip2.slice('eip155:'.length)),
    nonce: BigInt(nonce),
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
    max_fee_per_gas: fees.maxFeePerGas,
    gas,
    ...(call.to === '' ? {} : { to: call.to }),
    value: call.value,
    data: call.data,
  })
  const signature = await withSigningKey(context, signer, (key) => signBytes(key, ethereumDigest(unsigned)))
  const signed = encodeSignedEthereum(unsigned, signature)
  const attempt: SendAttemptRow = {
    send_id: row.id,
    organization_id: row.organization_id,
    number,
    hash: `0x${encodeHex(keccak256(signed))}`,
    signed_transaction: `0x${encodeHex(signed)}`,
    fees: JSON.stringify({
      gas: gas.toString(),
      maxFeePerGas: fees.maxFeePerGas.toString(),
      maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
    }),
    created_at: clock(),
  }
  await insertAttempt(tx, attempt)
  return { attempt }
}

export function callOf(row: SendRow, { to, value, data }: SendRequest): EthereumCall {
  return { from: row.sender, to, value: BigInt(value), data }
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

/** What the caller has set counts, the node is asked for the rest; the tip is never above all that is offered. */
async function chooseFees({ maxFeePerGas, maxPriorityFeePerGas }: SendRequest, node: EthereumNode): Promise<Fees> {
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined) {
    return withinLimit(BigInt(maxFeePerGas), BigInt(maxPriorityFeePerGas))
  }
  const suggested = await node.suggestFees()
  if (maxFeePerGas !== undefined) return withinLimit(BigInt(maxFeePerGas), suggested.maxPriorityFeePerGas)
  const tip = maxPriorityFeePerGas === undefined ? suggested.maxPriorityFeePerGas : BigInt(maxPriorityFeePerGas)
  return {
    maxFeePerGas: suggested.maxFeePerGas - suggested.maxPriorityFeePerGas + tip,
    maxPriorityFeePerGas: tip,
  }
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
