/**
 * Sends of Ethereum transactions (docs/protocol/sends.md#ethereum-sends). The activity is complete when the send is
 * accepted; the service's sender does the rest. Here nothing is asked of a node but whether it is there, and what gas
 * costs where somebody else pays.
 */
import { isEthereumAddress } from '../../../chain/index.ts'
import { ApiError, apiError, apiErrorAt, GRPC, type Wire } from '../../../protocol/index.ts'
import { askChain, type Chain, offerFees } from '../../chains/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { createEthereumNode, type EthereumNode, MAX_BATCHED_CALLS, otherChain } from '../../nodes/index.ts'
import {
  checkGasAllowance,
  executionRequest,
  relayerAddress,
  reserveGas,
  toSendRequest,
  undelegateRequest,
} from '../../sends/index.ts'
import { findSigner, readSendRequest, signerFacts } from '../../signing/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { acceptSend } from './accept-send.ts'

type Intent = Wire.EthSendTransactionIntentV2

/** The node of a chain that serves it. Throws code 14 where it cannot be reached, or serves another: a moment later it may. */
async function openNode(chain: Chain): Promise<EthereumNode> {
  const node = createEthereumNode(chain.node)
  const elsewhere = otherChain(chain.caip2, await askChain(chain, () => node.chainId()))
  if (elsewhere === undefined) return node
  throw new ApiError(GRPC.Unavailable, `${elsewhere}; nothing was accepted`, { code: 'RPC_CALL_ERROR' })
}

type EthereumType = typeof SEND | typeof UNDELEGATE
type EthereumIntent = Intent | Wire.EthUndelegate7702Intent

/** What gas cost when a sponsored send was submitted: the price that its approvers were shown. */
interface GasQuote {
  /** Wei, decimal. */
  readonly gasPrice: string
}

const send: TypedHandler<Intent, Wire.EthSendTransactionResultV2, GasQuote> = {
  async prepare({ caip2, sponsor }, { chains }) {
    const chain = chains.require(caip2)
    const node = await openNode(chain)
    if (sponsor !== true) return
    // Those who approve it later approve what it was said to cost.
    const { fees } = await askChain(chain, () => offerFees(node, chain))
    return { gasPrice: String(fees.maxFeePerGas) }
  },
  async validate(context, intent) {
    await check(context, SEND, intent)
    if (isExecution(intent)) checkExecution(intent, context)
    if (intent.sponsor === true) await checkGasAllowance(context, estimate(context, intent))
  },
  facts: (context, intent) => factsOf(context, SEND, intent),
  async execute(context, intent) {
    const { calls, from, sponsor } = intent
    const request = isExecution(intent) ? executionRequest(calls, intent) : toSendRequest(calls[0]!, intent)
    const account = from.toLowerCase()
    const asked =
      sponsor === true
        ? { sender: (await relayerAddress(context.tx, 'eip155')).toLowerCase(), account }
        : { sender: account }
    const id = await acceptSend(context, { caip2: intent.caip2, ...asked, request })
    if (sponsor === true) await reserveGas(context, id, estimate(context, intent))
    return { sendTransactionStatusId: id }
  },
}

const undelegate: TypedHandler<Wire.EthUndelegate7702Intent, Wire.EthUndelegate7702Result> = {
  async prepare({ caip2 }, { chains }) {
    await openNode(chains.require(caip2))
  },
  async validate(context, intent) {
    await check(context, UNDELEGATE, intent)
  },
  facts: (context, intent) => factsOf(context, UNDELEGATE, intent),
  async execute(context, intent) {
    const asked = { caip2: intent.caip2, sender: intent.from.toLowerCase(), request: undelegateRequest(intent) }
    return { sendTransactionStatusId: await acceptSend(context, asked) }
  },
}

const SEND = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2'
const UNDELEGATE = 'ACTIVITY_TYPE_ETH_UNDELEGATE_7702'

export const ethSendHandlers = {
  ACTIVITY_TYPE_ETH_SEND_TRANSACTION: mapIntent(
    send,
    ({ to, value, data, ...rest }: Wire.EthSendTransactionIntent): Intent => ({
      ...rest,
      calls: [{ to, ...(value === undefined ? {} : { value }), ...(data === undefined ? {} : { data }) }],
    }),
  ),
  [SEND]: send,
  [UNDELEGATE]: undelegate,
} satisfies HandlerRows

/**
 * One call that its sender pays for is a transaction; everything else goes through the gas station
 * (docs/protocol/sends.md#gas-station).
 */
function isExecution({ sponsor, calls }: Intent): boolean {
  return sponsor === true || calls.length > 1
}

function checkExecution({ calls, sponsor, nonce, deadline, gasStationNonce }: Intent, { now }: HandlerContext): void {
  if (calls.length > MAX_BATCHED_CALLS) {
    const found = `the gas station takes at most ${MAX_BATCHED_CALLS} calls at once, got ${calls.length}`
    throw apiErrorAt('calls', 'requestInvalid', found)
  }
  const creation = calls.findIndex(({ to }) => to === '')
  // Its contract would take nothing for the address 0, and what is sent there is lost.
  if (creation >= 0) {
    throw apiError('invalidField', `calls[${creation}].to`, 'must not be empty: a gas station creates no contracts')
  }
  if (sponsor === true && nonce) {
    throw apiError('invalidField', 'nonce', 'is that of the payer: a sponsored send has `gasStationNonce` alone')
  }
  checkWhole('gasStationNonce', gasStationNonce, 128)
  const until = checkWhole('deadline', deadline, 32)
  if (until !== undefined && until * 1_000n <= BigInt(now)) {
    throw apiError('invalidField', 'deadline', 'is over: it is in seconds since 1970')
  }
}

function checkWhole(name: string, text: string | undefined, bits: number): bigint | undefined {
  if (!text) return undefined
  if (!/^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text) || BigInt(text) >= 2n ** BigInt(bits)) {
    throw apiError('invalidField', name, `must be a whole number of at most ${bits} bits`)
  }
  return BigInt(text)
}

/** What an execution takes besides its calls: its signatures, its nonce, and an authorization. */
const EXECUTION_GAS = 150_000n
const CALL_GAS = 50_000n
/** EIP-2028: a byte of calldata that is not 0. */
const BYTE_GAS = 16n

const PRICE_UNKNOWN = 'the price of gas at its submission is not known: submit it again'

/** Before the node has tried it: what the caller allows, or what such calls usually take. */
function estimate({ chains, answers }: HandlerContext<GasQuote>, { caip2, calls, gasLimit }: Intent) {
  const chain = chains.require(caip2)
  const bytes = calls.reduce((sum, { data = '' }) => sum + BigInt(data.length / 2), 0n)
  const usual = EXECUTION_GAS + CALL_GAS * BigInt(calls.length) + BYTE_GAS * bytes
  // One that was submitted before prices were kept has none: it must not pass for free.
  if (!answers) throw new ApiError(GRPC.FailedPrecondition, PRICE_UNKNOWN)
  return { chain, cost: BigInt(gasLimit || usual) * BigInt(answers.gasPrice) }
}

/** Checks that both activities share: the chain is known, the sender exists, the transaction can be read. */
async function check(context: HandlerContext, type: EthereumType, intent: EthereumIntent): Promise<void> {
  context.chains.require(intent.caip2)
  await findSender(context, intent.from)
  await readSendRequest(context, type, intent)
}

async function factsOf(context: HandlerContext, type: EthereumType, intent: EthereumIntent) {
  const signer = await findSender(context, intent.from)
  return { ...(await signerFacts(context, signer)), ...(await readSendRequest(context, type, intent)) }
}

/** `from` is an address, never the id of a key (docs/protocol/sends.md#ethereum-sends). */
async function findSender(context: HandlerContext, from: string) {
  if (!isEthereumAddress(from)) throw apiError('invalidField', 'from', 'must be an Ethereum address')
  return findSigner(context, from)
}
