/**
 * Sends of Ethereum transactions (facts: chain §7). The activity is complete when the send is accepted; the service's sender
 * does the rest. Here nothing is asked of a node but whether it is there.
 */
import { readSendFacts, type SendFacts } from '../../chain/index.ts'
import { apiError, type Wire } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/handler.ts'
import { askChain } from '../sends/ask-chain.ts'
import { toSendRequest } from '../sends/request.ts'
import { readContractInterfaces } from '../signing/contract-interfaces.ts'
import { orRefuse } from '../signing/refusals.ts'
import { findSigner, signerFacts } from '../signing/signer.ts'
import { insertSend } from '../store/sends.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from './table.ts'

const send: TypedHandler<Wire.EthSendTransactionIntentV2, Wire.EthSendTransactionResultV2> = {
  async examine({ caip2 }, { chains }) {
    const chain = chains.require(caip2)
    await askChain(chain, () => chain.node.request('eth_chainId', []))
  },
  async validate(context, intent) {
    context.chains.require(intent.caip2)
    if (intent.sponsor === true || intent.calls.length > 1) {
      throw apiError('notImplemented', 'a send with a sponsor or with several calls (this version has no gas station)')
    }
    await findSender(context, intent.from)
    await readFacts(context, intent)
  },
  async facts(context, intent) {
    const signer = await findSender(context, intent.from)
    return { ...(await signerFacts(context, signer)), ...(await readFacts(context, intent)) }
  },
  async execute(context, intent) {
    const { tx, organizationId, now } = context
    const id = context.newId()
    await insertSend(tx, {
      id,
      organization_id: organizationId,
      activity_id: context.activityId,
      caip2: intent.caip2,
      sender: intent.from.toLowerCase(),
      request: JSON.stringify(toSendRequest(intent.calls[0]!, intent)),
      status: 'INITIALIZED',
      nonce: null,
      hash: null,
      failure: null,
      created_at: now,
      updated_at: now,
    })
    return { sendTransactionStatusId: id }
  },
}

export const ethSendHandlers = {
  ACTIVITY_TYPE_ETH_SEND_TRANSACTION: mapIntent(
    send,
    ({ to, value, data, ...rest }: Wire.EthSendTransactionIntent): Wire.EthSendTransactionIntentV2 => ({
      ...rest,
      calls: [{ to, ...(value === undefined ? {} : { value }), ...(data === undefined ? {} : { data }) }],
    }),
  ),
  ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2: send,
} satisfies HandlerRows

/** `from` is an address, never the id of a key (facts: chain §7). */
async function findSender(context: HandlerContext, from: string) {
  if (!/^0x[0-9a-fA-F]{40}$/.test(from)) throw apiError('invalidField', 'from', 'must be an Ethereum address')
  return findSigner(context, from)
}

async function readFacts(context: HandlerContext, intent: Wire.EthSendTransactionIntentV2): Promise<SendFacts> {
  const interfaces = await readContractInterfaces(context)
  return orRefuse(() => readSendFacts('ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', intent, { interfaces }))
}
