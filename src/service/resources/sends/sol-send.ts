/**
 * Sends of Solana transactions (docs/protocol/sends.md#solana-sends). The activity is complete when the send is
 * accepted; the service's sender does the rest. Here nothing is asked of a node but whether it is there.
 */
import {
  checkSigner,
  checkSolanaSigners,
  checkSolanaSize,
  checkSolanaSponsored,
  isSolanaAddress,
  normalizeCaip2,
  readSolanaDraft,
  solanaFee,
  solanaSendBytes,
  withFeePayer,
} from '../../../chain/index.ts'
import { encodeBase64 } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { askChain } from '../../chains/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { checkGasAllowance, relayerAddress, reserveGas, type SolanaRequest } from '../../sends/index.ts'
import { findSigner, namedKey, orRefuse, readSendRequest, type SealedSigner, signerFacts } from '../../signing/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { acceptSend } from './accept-send.ts'

const send: TypedHandler<Wire.SolSendTransactionIntentV2, Wire.SolSendTransactionResultV2> = {
  async prepare({ caip2 }, { chains }) {
    const chain = chains.require(caip2)
    await askChain(chain, () => chain.node.request('getGenesisHash', []))
  },
  async validate(context, intent) {
    context.chains.require(intent.caip2)
    const signers = await findSigners(context, intent)
    await readFacts(context, intent)
    const keys = signers.map(namedKey)
    orRefuse(() => {
      const transaction = solanaSendBytes(intent)
      checkSolanaSize(transaction)
      for (const key of keys) checkSigner('TRANSACTION_TYPE_SOLANA', transaction, key)
      checkSolanaSigners(
        transaction,
        keys.map(({ publicKey }) => publicKey),
      )
    })
    if (intent.sponsor === true) await checkGasAllowance(context, await estimate(context, intent))
  },
  async facts(context, intent) {
    const facts = await readFacts(context, intent)
    const signers = await Promise.all((await findSigners(context, intent)).map((each) => signerFacts(context, each)))
    // Unstated: each key is judged by itself, as if it signed alone; all must be allowed.
    return signers.length === 1 ? { ...signers[0], ...facts } : { ...facts, batch: signers }
  },
  async execute(context, intent) {
    const transaction = orRefuse(() => solanaSendBytes(intent))
    const request: SolanaRequest = { transaction: encodeBase64(transaction), signWiths: intent.signWiths }
    const [payer] = readSolanaDraft(transaction).signers
    const sponsored = intent.sponsor === true
    const id = await acceptSend(context, {
      caip2: normalizeCaip2(intent.caip2),
      sender: sponsored ? await relayerAddress(context.tx, 'solana') : payer!,
      account: sponsored ? payer! : null,
      request,
    })
    if (sponsored) await reserveGas(context, id, await estimate(context, intent))
    return { sendTransactionStatusId: id }
  },
}

export const solSendHandlers = {
  ACTIVITY_TYPE_SOL_SEND_TRANSACTION: mapIntent(
    send,
    ({ signWith, ...rest }: Wire.SolSendTransactionIntent): Wire.SolSendTransactionIntentV2 => ({
      ...rest,
      signWiths: [signWith],
    }),
  ),
  ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2: send,
} satisfies HandlerRows

async function findSigners(
  context: HandlerContext,
  { signWiths }: Wire.SolSendTransactionIntentV2,
): Promise<readonly SealedSigner[]> {
  const signers: SealedSigner[] = []
  const stranger = signWiths.find((each) => !isSolanaAddress(each))
  if (stranger !== undefined) throw apiError('requestInvalid', `\`${stranger}\` is no Solana address to sign with`)
  for (const signWith of signWiths) signers.push(await findSigner(context, signWith))
  return signers
}

function readFacts(context: HandlerContext, intent: Wire.SolSendTransactionIntentV2) {
  return readSendRequest(context, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', intent)
}

/** The cost of a sponsored send for the service, estimated from the transaction. Refuses a send that cannot be sponsored. */
async function estimate(context: HandlerContext, intent: Wire.SolSendTransactionIntentV2) {
  const payer = await relayerAddress(context.tx, 'solana')
  return orRefuse(() => {
    const transaction = solanaSendBytes(intent)
    checkSolanaSponsored(transaction, payer)
    const paid = withFeePayer(transaction, payer)
    checkSolanaSize(paid)
    return { chain: context.chains.require(intent.caip2), cost: solanaFee(paid) }
  })
}
