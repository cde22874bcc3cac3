import type { Wire } from '../../protocol/index.ts'

/** What the caller has set of a transaction, in decimals. */
interface Fields {
  readonly nonce?: string
  readonly gasLimit?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
}

/** Decimals, and hex with `0x` in lower case. `to` is empty for a creation. */
export interface Call {
  readonly to: string
  readonly value: string
  readonly data: string
}

/** One call, as a transaction of its own. */
interface CallRequest extends Fields, Call {
  readonly kind?: never
}

/** What the caller has signed already: only its nonce matters, the rest stands in its bytes. */
interface RawRequest extends Fields {
  readonly kind: 'raw'
  readonly nonce: string
}

/** What is kept of a request to send, as it was checked. */
export type SendRequest = CallRequest | RawRequest

type Intent = Pick<Wire.EthSendTransactionIntentV2, keyof Fields>

/** Keeps one call and the fields that the caller has set; an empty one is taken as absent (facts: chain §7). */
export function toSendRequest(call: Partial<Wire.EthCallParams>, intent: Intent): SendRequest {
  return { ...toCall(call), ...toFields(intent) }
}

function toCall({ to, value, data }: Partial<Wire.EthCallParams>): Call {
  return {
    to: (to ?? '').toLowerCase(),
    value: BigInt(value || '0').toString(),
    data: data ? `0x${data.replace(/^0x/, '').toLowerCase()}` : '0x',
  }
}

function toFields({ nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }: Intent): Fields {
  const fields = { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }
  const given = Object.entries(fields).flatMap(([name, text]) => (text ? [[name, BigInt(text).toString()]] : []))
  return Object.fromEntries(given) as Fields
}

/** Keeps that a send came signed. */
export function rawRequest(nonce: bigint): SendRequest {
  return { kind: 'raw', nonce: nonce.toString() }
}

export function readSendRequest(json: string): SendRequest {
  return JSON.parse(json) as SendRequest
}
