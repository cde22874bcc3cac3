import {
  addressOf,
  checkSigner,
  readTransactionFacts,
  signTransaction,
  type TransactionFacts,
} from '../../../chain/index.ts'
import { encodeHex } from '../../../encoding/index.ts'
import type { Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import {
  findSigner,
  namedKey,
  orRefuse,
  readDecoded,
  type Signer,
  signerFacts,
  withSigningKey,
} from '../../signing/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'

const sign: TypedHandler<Wire.SignTransactionIntentV2, Wire.SignTransactionResult> = {
  async validate(context, intent) {
    const signer = await findSigner(context, intent.signWith)
    // What cannot be decoded must not reach the policies (docs/protocol/policies.md#roots), nor what cannot be signed
    // the voters.
    await readFacts(context, intent, signer)
    orRefuse(() => checkSigner(intent.type, intent.unsignedTransaction, namedKey(signer)))
  },
  async facts(context, intent) {
    const signer = await findSigner(context, intent.signWith)
    return { ...(await signerFacts(context, signer)), ...(await readFacts(context, intent, signer)) }
  },
  async execute(context, { signWith, type, unsignedTransaction }) {
    const signer = await findSigner(context, signWith)
    const signed = await withSigningKey(context, signer, (key) =>
      orRefuse(() => signTransaction(type, unsignedTransaction, key)),
    )
    // Published clients put `0x` before it themselves (docs/protocol/signing.md#transactions).
    return { signedTransaction: encodeHex(signed) }
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
  signer: Signer,
): Promise<TransactionFacts> {
  return readDecoded(context, (interfaces) =>
    orRefuse(() => readTransactionFacts({ type, unsignedTransaction, interfaces, signer: addressFor(type, signer) })),
  )
}

/** The sender where the chain's transactions do not say it, whatever the key was named by; else the address that named it. */
function addressFor(type: Wire.TransactionType, { curve, publicKey, address }: Signer): string | undefined {
  const isSender = type === 'TRANSACTION_TYPE_ETHEREUM' || type === 'TRANSACTION_TYPE_TEMPO'
  return isSender ? addressOf(curve, publicKey, 'ADDRESS_FORMAT_ETHEREUM') : address
}
