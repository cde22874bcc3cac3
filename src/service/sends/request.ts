import type { Wire } from '../../protocol/index.ts'

/** What is kept of a request to send: decimals and hex with `0x`, as they were checked. `to` is empty for a creation. */
export interface SendRequest {
  readonly to: string
  readonly value: string
  readonly data: string
  readonly nonce?: string
  readonly gasLimit?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
}

type Fields = Pick<Wire.EthSendTransactionIntentV2, 'nonce' | 'gasLimit' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/** Keeps one call and the fields that the caller has set; an empty one is taken as absent (facts: chain §7). */
export function toSendRequest({ to, value, data }: Partial<Wire.EthCallParams>, intent: Fields): SendRequest {
  const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = intent
  const fields = { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }
  const given = Object.entries(fields).flatMap(([name, text]) => (text ? [[name, BigInt(text).toString()]] : []))
  return {
    to: (to ?? '').toLowerCase(),
    value: BigInt(value || '0').toString(),
    data: data ? `0x${data.replace(/^0x/, '').toLowerCase()}` : '0x',
    ...(Object.fromEntries(given) as Partial<SendRequest>),
  }
}

export function readSendRequest(json: string): SendRequest {
  return JSON.parse(json) as SendRequest
}
