/**
 * Sends Ethereum transactions that somebody has signed already (docs/protocol/sends.md#ethereum-sends). What the node
 * would refuse at once is refused; the rest is broadcast and watched as every send, and its status is asked for by its
 * hash.
 */
import { ethereumHash, readSendFacts, type SendFacts } from '../../../chain/index.ts'
import { decodeHex } from '../../../encoding/index.ts'
import { ApiError, GRPC, type Wire } from '../../../protocol/index.ts'
import { askChain } from '../../chains/index.ts'
import { createEthereumNode, otherChain } from '../../nodes/index.ts'
import { rawRequest, toAttempt } from '../../sends/index.ts'
import { lookForSigner, orRefuse, readSend, readSendRequest, signerFacts } from '../../signing/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { acceptSend } from './accept-send.ts'
import { insertAttempt } from './store.ts'

type Intent = Wire.EthSendRawTransactionIntent

const sendRaw: TypedHandler<Intent, Wire.EthSendRawTransactionResult> = {
  async prepare(intent, { chains }) {
    const chain = chains.require(intent.caip2)
    const signed = orRefuse(() => readSendFacts(TYPE, intent, { interfaces: [] }))
    const { from, nonce, value, gas, gas_price } = signedOf(signed)
    const node = createEthereumNode(chain.node)
    const [served, known, next, balance] = await askChain(chain, () =>
      Promise.all([
        node.chainId(),
        node.knows(ethereumHash(decodeHex(intent.signedTransaction))),
        node.latestCount(from),
        node.balance(from),
      ]),
    )
    const elsewhere = otherChain(intent.caip2, served)
    if (elsewhere !== undefined) throw refused(elsewhere)
    if (known) return
    if (nonce < next) throw refused(`nonce too low: ${from} has sent ${next}, the transaction has nonce ${nonce}`)
    const needed = value + gas * gas_price
    if (balance < needed)
      throw refused(`insufficient funds: ${from} has ${balance} wei, the transaction may take ${needed}`)
  },
  async validate(context, intent) {
    context.chains.require(intent.caip2)
    signedOf(readSend(context, { type: TYPE, intent, interfaces: [] }))
  },
  async facts(context, intent) {
    const { from } = signedOf(readSend(context, { type: TYPE, intent, interfaces: [] }))
    const signer = await lookForSigner(context, from)
    return {
      ...(signer === undefined ? {} : await signerFacts(context, signer)),
      ...(await readSendRequest(context, TYPE, intent)),
    }
  },
  async execute(context, intent) {
    const signed = decodeHex(intent.signedTransaction)
    const { from, nonce } = signedOf(readSend(context, { type: TYPE, intent, interfaces: [] }))
    const transactionHash = ethereumHash(signed)
    const id = await acceptSend(context, {
      caip2: intent.caip2,
      sender: from,
      request: rawRequest(nonce),
      nonce: Number(nonce),
      hash: transactionHash,
    })
    const { tx, organizationId: organization_id, now } = context
    await insertAttempt(tx, toAttempt({ id, organization_id }, { signed, number: 1, now }))
    return { transactionHash }
  },
}

const TYPE = 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION'

export const ethSendRawHandlers = { [TYPE]: sendRaw } satisfies HandlerRows

interface Signed {
  readonly from: string
  readonly nonce: bigint
  readonly value: bigint
  readonly gas: bigint
  readonly gas_price: bigint
}

function signedOf({ eth }: SendFacts): Signed {
  return eth!['tx'] as unknown as Signed
}

function refused(message: string): ApiError {
  return new ApiError(GRPC.InvalidArgument, message, { code: 'INVALID_TRANSACTION' })
}
