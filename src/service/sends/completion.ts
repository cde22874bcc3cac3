/**
 * From a request to a signed transaction (docs/protocol/sends.md#nonces-and-fees): gas, fees and nonce are filled in
 * where the caller has left them out. The signed bytes are in the store before anybody else has them.
 */

import { authorizationItem, encodeEthereum } from '../../chain/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { type FeeOffer, offerFees } from '../chains/index.ts'
import {
  createEthereumNode,
  type EthereumNode,
  type Fees,
  NodeRefusal,
  NodeUnreachable,
  otherChain,
  raiseFees,
} from '../nodes/index.ts'
import { findNextNonce } from '../resources/sends/lanes-store.ts'
import { findFlyingAttempt, listAttempts, listTaken, type SendRow, updateSend } from '../resources/sends/store.ts'
import { feesOf, signAttempt } from './attempt.ts'
import { handOver } from './broadcast.ts'
import { draftSend } from './draft.ts'
import type { NoDraft, SendDraft } from './drafting.ts'
import { createBehindLook } from './ethereum-behind.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure, revertFailure, toFailedCall } from './failure.ts'
import { type CompletedSend, noteWait } from './family.ts'
import { createGivingUp, isSendRefusal } from './giving-up.ts'
import { explainIdleTransfer } from './idle-transfer.ts'
import { readInterfaces } from './interfaces-of-send.ts'
import { holdOf, noteSigned } from './lane.ts'
import { nextNonce } from './next-nonce.ts'
import { readSendRequest, type StoredSendRequest } from './request.ts'

/** A fifth more gas than the node has needed: the state that a call runs on may change until it is mined. */
const withMargin = (gas: bigint) => (gas * 6n) / 5n

/** Creates what completes and signs a send that has not been signed yet. Throws `NodeUnreachable`. */
export function createCompletion(tools: EthereumTools): (row: SendRow) => Promise<CompletedSend | NoDraft> {
  const givingUp = createGivingUp(tools, {
    head: tools.node.blockNumber,
    prepare(row, witness) {
      const node = createEthereumNode(witness)
      const nonceBy = async ({ nonce }: StoredSendRequest) => Number(nonce ?? (await node.pendingCount(row.sender)))
      return prepare({ ...tools, node }, row, nonceBy)
    },
  })
  const lookBehind = createBehindLook(tools)
  const nonceOf = async (row: SendRow, request: StoredSendRequest) => {
    if (request.nonce === undefined && (await lookBehind())) return 'later'
    return chooseNonce(tools, row, request)
  }
  return async (row) => {
    const prepared = await prepare(tools, row, (request) => nonceOf(row, request))
    if (isSendRefusal(prepared)) return givingUp.judge(row, prepared)
    givingUp.drop(row)
    return typeof prepared === 'string' ? prepared : sign(tools, row, prepared)
  }
}

/** What is to be signed. */
interface Prepared extends Pick<SendDraft, 'authorization'> {
  readonly unsigned: Uint8Array
  readonly nonce: number
}

/**
 * Fills in what the caller has left out. A caller who sets `gasLimit` has decided that the call is sent, so that only calls without it
 * are tried first.
 */
async function prepare(
  tools: EthereumTools,
  row: SendRow,
  nonceOf: (request: StoredSendRequest) => Promise<number | 'later' | 'waits'>,
): Promise<Prepared | NoDraft> {
  const { node } = tools
  const request = readSendRequest(row.request)
  const chainId = await node.chainId()
  // The node is one of another chain, such as behind a gateway that was set up anew: for the moment the chain has no node.
  const elsewhere = otherChain(row.caip2, chainId)
  if (elsewhere !== undefined) {
    await noteWait(tools, row, elsewhere)
    throw new NodeUnreachable(elsewhere)
  }
  // Fees come first: a send that waits for a lower price is tried at each turn, and needs no draft until it can be signed.
  const fees = chooseFees(request, await offerFees(node, tools.chain), await feesToBeat(tools, row, request))
  if ('failure' in fees) return fees
  if ('waitsFor' in fees) {
    await noteWait(tools, row, fees.waitsFor)
    return 'waits'
  }
  const nonce = await nonceOf(request)
  if (typeof nonce === 'string') return nonce
  const draft = await draftSend(tools, row, { request, chainId, nonce })
  if (!(typeof draft === 'object' && 'call' in draft)) return draft
  const gas = request.gasLimit === undefined ? await estimateGas(tools, row, draft) : BigInt(request.gasLimit)
  if (typeof gas !== 'bigint') return gas
  const idle = request.gasLimit === undefined ? await explainIdleTransfer(node, draft.call) : undefined
  if (idle !== undefined) return { failure: failure(idle) }
  const { call, authorization } = draft
  const unsigned = encodeEthereum(authorization ? 4 : 2, {
    chain_id: chainId,
    nonce: BigInt(nonce),
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
    max_fee_per_gas: fees.maxFeePerGas,
    gas,
    ...(call.to === '' ? {} : { to: call.to }),
    value: call.value,
    data: call.data,
    ...(authorization && { authorization_list: [authorizationItem(authorization)] }),
  })
  return { unsigned, nonce, ...(authorization && { authorization }) }
}

function sign(
  tools: EthereumTools,
  row: SendRow,
  { unsigned, nonce, authorization }: Prepared,
): Promise<CompletedSend> {
  return tools.database.write(async (tx) => {
    const made = await signAttempt(tools, tx, row, { unsigned, number: 1 })
    if ('failure' in made) return made
    const isOpen = await updateSend(tx, row, { nonce, hash: made.attempt.hash, updated_at: tools.clock() })
    if (!isOpen) throw new Error('it has come to its end meanwhile')
    const authorizes = authorization && { account: row.account ?? row.sender, nonce: authorization.nonce }
    await noteSigned(tx, row, { nonce, ...(authorizes && { authorizes }) })
    return made
  })
}

async function estimateGas(
  tools: EthereumTools,
  row: SendRow,
  draft: SendDraft,
): Promise<bigint | { readonly failure: Wire.TxError }> {
  try {
    return withMargin(await tools.node.estimateGas(draft.call, draft.authorization))
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
    if (error.data === undefined) return { failure: failure(error.message) }
    const interfaces = await readInterfaces(tools, row)
    return { failure: revertFailure(await findFailedCall(tools.node, draft, error), { interfaces }) }
  }
}

/** A gas station and its delegate do not say which call failed: each call is tried by itself until one fails. */
async function findFailedCall(node: EthereumNode, { call, executes = [] }: SendDraft, refusal: NodeRefusal) {
  for (const executed of executes) {
    try {
      await node.call(executed)
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      return toFailedCall(executed.to, error)
    }
  }
  return toFailedCall(call.to, refusal)
}

/**
 * Chooses the nonce: the caller's, or the lowest from the chain's own next nonce on that no send of this service has. Otherwise why there is
 * none yet (`NoDraft`).
 */
async function chooseNonce(
  tools: EthereumTools,
  row: SendRow,
  { nonce }: StoredSendRequest,
): Promise<number | 'later' | 'waits'> {
  const { node, database } = tools
  if (nonce !== undefined) return Number(nonce)
  const next = await node.pendingCount(row.sender)
  // What the first count says is believed from then on, and a nonce above the chain's is never included.
  const isFirst = (await database.read((tx) => findNextNonce(tx, row))) === undefined
  if (isFirst && (await node.pendingCount(row.sender)) !== next) {
    await noteWait(
      tools,
      row,
      `the node says two next nonces of ${row.sender}, one after the other, and is asked again`,
    )
    return 'later'
  }
  const hold = await holdOf(tools, row, next)
  if (hold !== undefined) {
    await noteWait(tools, row, hold.reason)
    return hold.as
  }
  const { caip2, sender } = row
  const taken = await database.read((tx) => listTaken(tx, { caip2, sender, from: Number(next) }))
  for (const each of taken) if (each.status === 'INCLUDED') await offerAgain(tools, each)
  // The lowest that neither the chain nor a send of this service has used, so that there is no gap and no nonce twice.
  return Number(nextNonce(next, { taken: new Set(taken.map((each) => BigInt(each.nonce!))), waiting: 0 }))
}

/**
 * Hands over once more what was included in a block that the chain has taken back since. The send is at its end, and the
 * gap that it would leave is one that nothing behind it gets over.
 */
async function offerAgain({ node, database }: EthereumTools, included: SendRow): Promise<void> {
  const attempts = await database.read((tx) => listAttempts(tx, included))
  const mined = attempts.find(({ hash }) => hash === included.hash)
  if (mined !== undefined) await handOver(node, mined)
}

/** The fees of a broadcast send with the nonce that the caller has set: the new send replaces it. */
async function feesToBeat(
  { database }: EthereumTools,
  { caip2, sender }: SendRow,
  { nonce }: StoredSendRequest,
): Promise<Fees | undefined> {
  if (nonce === undefined) return undefined
  const flying = await database.read((tx) => findFlyingAttempt(tx, { caip2, sender, nonce: Number(nonce) }))
  return flying === undefined ? undefined : feesOf(flying)
}

/**
 * Fees that the caller has set count; the others are the service's, beneath its ceiling: with a tip of the caller's the whole is cut to
 * the ceiling, or to the tip where that is more. The tip is never above the whole fee. While the base fee alone is more, nothing is
 * signed: it would hold up all that comes after it.
 */
function chooseFees(
  { maxFeePerGas, maxPriorityFeePerGas, nonce }: StoredSendRequest,
  { fees, ceiling, baseFee }: FeeOffer,
  beaten: Fees | undefined,
): Fees | { readonly failure: Wire.TxError } | { readonly waitsFor: string } {
  const offered = beaten === undefined ? fees : raiseFees(beaten, fees)
  const tip = maxPriorityFeePerGas === undefined ? offered.maxPriorityFeePerGas : BigInt(maxPriorityFeePerGas)
  if (maxFeePerGas !== undefined) {
    const most = BigInt(maxFeePerGas)
    // A caller who has set the nonce may want a transaction that is mined later.
    if (most < baseFee && nonce === undefined) return { waitsFor: tooDear(baseFee, `its \`maxFeePerGas\` is ${most}`) }
    return { maxFeePerGas: most, maxPriorityFeePerGas: tip < most ? tip : most }
  }
  // A caller's tip is no word on the rest: what the service adds to it stays beneath the ceiling.
  const bound = tip > ceiling ? tip : ceiling
  const wanted = offered.maxFeePerGas - offered.maxPriorityFeePerGas + tip
  const whole = beaten === undefined && wanted > bound ? bound : wanted
  if (whole <= bound) {
    if (whole < baseFee && nonce === undefined) return { waitsFor: tooDear(baseFee, `the ceiling is ${ceiling}`) }
    return { maxFeePerGas: whole, maxPriorityFeePerGas: tip }
  }
  const needed = `what has nonce ${nonce} offers so much that to take its place costs ${whole} wei for a unit of gas`
  return { failure: failure(`${needed}, above the ceiling of ${ceiling}: say \`maxFeePerGas\` yourself`) }
}

const tooDear = (baseFee: bigint, bound: string) =>
  `a unit of gas costs ${baseFee} wei now, and ${bound}: nothing is signed until it costs less`
