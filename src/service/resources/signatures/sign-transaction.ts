import { addressOf, type KeyByAddress, type TransactionFacts } from '../../../chain/index.ts'
import type { Wire } from '../../../protocol/index.ts'
import { type HandlerContext, weightOfBytes } from '../../engine/index.ts'
import {
  findSigner,
  namedKey,
  openKey,
  orRefuse,
  readDecoded,
  type SealedSigner,
  signerFacts,
} from '../../signing/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'

const sign: TypedHandler<Wire.SignTransactionIntentV2, Wire.SignTransactionResult> = {
  async validate(context, intent) {
    const signer = await findSigner(context, intent.signWith)
    // What cannot be decoded must not reach the policies (docs/protocol/policies.md#roots), nor what cannot be signed
    // the voters.
    await readFacts(context, intent, signer)
    orRefuse(() => context.work.run('checkSigner', jobOf(intent, namedKey(signer))))
  },
  async facts(context, intent) {
    const signer = await findSigner(context, intent.signWith)
    return { ...(await signerFacts(context, signer)), ...(await readFacts(context, intent, signer)) }
  },
  async execute(context, intent) {
    const signer = await findSigner(context, intent.signWith)
    const { privateKey: secret, ...key } = await openKey(context, signer)
    const { signed } = orRefuse(() => context.work.run('signTransaction', { secret, ...jobOf(intent, key) }))
    // Published clients put `0x` before it themselves (docs/protocol/signing.md#transactions).
    return { signedTransaction: signed }
  },
}

export const signTransactionHandlers = {
  ACTIVITY_TYPE_SIGN_TRANSACTION: mapIntent(sign, ({ privateKeyId, ...rest }: Wire.SignTransactionIntent) => ({
    ...rest,
    signWith: privateKeyId,
  })),
  ACTIVITY_TYPE_SIGN_TRANSACTION_V2: sign,
} satisfies HandlerRows

function readFacts(
  context: HandlerContext,
  { type, unsignedTransaction }: Wire.SignTransactionIntentV2,
  signer: SealedSigner,
): Promise<TransactionFacts> {
  return readDecoded(context, (interfaces) => {
    const input = { type, unsignedTransaction, interfaces, signer: addressFor(type, signer) }
    const weight = weightOfBytes(
      unsignedTransaction,
      interfaces.map(({ json }) => json),
    )
    return orRefuse(() => context.work.run('readTransaction', { input, weight }))
  })
}

function jobOf({ type, unsignedTransaction }: Wire.SignTransactionIntentV2, key: KeyByAddress) {
  const weight =
    type === 'TRANSACTION_TYPE_BITCOIN'
      ? Math.ceil(unsignedTransaction.length / INPUT_CHARACTERS)
      : weightOfBytes(unsignedTransaction)
  return { input: { type, unsignedTransaction, key }, weight }
}

/** The least hex of an input in a PSBT with what it spends: each is compared with the key, and signed by itself. */
const INPUT_CHARACTERS = 170

/** The sender where the chain's transactions do not say it, whatever the key was named by; else the address that named it. */
function addressFor(type: Wire.TransactionType, { curve, publicKey, address }: SealedSigner): string | undefined {
  const isSender = type === 'TRANSACTION_TYPE_ETHEREUM' || type === 'TRANSACTION_TYPE_TEMPO'
  return isSender ? addressOf(curve, publicKey, 'ADDRESS_FORMAT_ETHEREUM') : address
}
