import type { Wire } from '../../../protocol/index.ts'
import { weightOfBytes } from '../../engine/index.ts'
import { findSigner, openKey, orRefuse, signerFacts } from '../../signing/index.ts'
import { type HandlerRows, mapIntent, mapResult, type TypedHandler } from '../handler-table.ts'

/**
 * All or nothing, in order (docs/protocol/signing.md#raw-payloads). What typed data and authorizations say is judged
 * payload by payload.
 */
const signPayloads: TypedHandler<Wire.SignRawPayloadsIntent, Wire.SignRawPayloadsResult & Signatures> = {
  async validate(context, intent) {
    const { curve } = await findSigner(context, intent.signWith)
    const payloads = toPayloads(intent)
    const weight = weightOfBytes(intent.payloads)
    orRefuse(() => context.work.run('checkPayloads', { input: { curve, payloads }, weight }))
  },
  async facts(context, { signWith, payloads, encoding }) {
    const job = { input: { encoding, payloads }, weight: weightOfBytes(payloads) }
    const facts = orRefuse(() => context.work.run('readPayloads', job))
    const exposes = facts.some((each) => Object.keys(each).length > 0)
    const signer = await findSigner(context, signWith)
    return { ...(await signerFacts(context, signer)), ...(exposes ? { batch: facts } : {}) }
  },
  async execute(context, intent) {
    const signer = await findSigner(context, intent.signWith)
    const { privateKey: secret, ...key } = await openKey(context, signer)
    const payloads = toPayloads(intent)
    const weight = payloads.length + weightOfBytes(intent.payloads)
    return { signatures: context.work.run('signPayloads', { secret, input: { key, payloads }, weight }) }
  },
}

function toPayloads({ payloads, encoding, hashFunction }: Wire.SignRawPayloadsIntent) {
  return payloads.map((payload) => ({ payload, encoding, hashFunction }))
}

interface Signatures {
  readonly signatures: readonly Wire.SignRawPayloadResult[]
}

const signPayload = mapResult(
  mapIntent(signPayloads, ({ payload, ...rest }: Wire.SignRawPayloadIntentV2) => ({ ...rest, payloads: [payload] })),
  ({ signatures }): Wire.SignRawPayloadResult => signatures[0]!,
)

export const signRawPayloadHandlers = {
  ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: mapIntent(signPayload, ({ privateKeyId, ...rest }: Wire.SignRawPayloadIntent) => ({
    ...rest,
    signWith: privateKeyId,
  })),
  ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2: signPayload,
  ACTIVITY_TYPE_SIGN_RAW_PAYLOADS: signPayloads,
} satisfies HandlerRows
