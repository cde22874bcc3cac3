import type { Wire } from '../../protocol/index.ts'

/** The fields of a transaction that the caller has set, in decimals. */
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

/** Calls that the account makes through the gas station. */
export interface ExecutionRequest extends Fields {
  readonly kind: 'execution'
  readonly calls: readonly Call[]
  /** Seconds since the epoch. */
  readonly deadline?: string
  readonly gasStationNonce?: string
}

/** The account runs no code any more. */
interface UndelegateRequest extends Fields {
  readonly kind: 'undelegate'
}

/** A transaction that its sender has signed: only its nonce is kept here, the bytes have the rest. */
interface RawRequest extends Fields {
  readonly kind: 'raw'
  readonly nonce: string
}

/** The stored form of a checked request to send. */
export type StoredSendRequest = CallRequest | ExecutionRequest | UndelegateRequest | RawRequest

type Intent = { readonly [Name in keyof Fields]?: string | undefined }

/**
 * Keeps one call and the fields that the caller has set; an empty one is taken as absent
 * (docs/protocol/sends.md#ethereum-sends).
 */
export function toSendRequest(call: Partial<Wire.EthCallParams>, intent: Intent): StoredSendRequest {
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

/**
 * Keeps the calls of an execution, and the fields that the caller has set. INVARIANT: the service sets the fees of a
 * sponsored execution: one that offers too little would hold up all later ones of the relayer.
 */
export function executionRequest(
  calls: readonly Wire.EthCallParams[],
  intent: Intent & Pick<Wire.EthSendTransactionIntentV2, 'sponsor' | 'deadline' | 'gasStationNonce'>,
): StoredSendRequest {
  const { sponsor, gasLimit, deadline, gasStationNonce } = intent
  return {
    kind: 'execution',
    calls: calls.map(toCall),
    ...toFields(sponsor === true ? { gasLimit } : intent),
    ...(deadline ? { deadline: BigInt(deadline).toString() } : {}),
    ...(gasStationNonce ? { gasStationNonce: BigInt(gasStationNonce).toString() } : {}),
  }
}

/** Keeps that an account is to run no code any more. */
export function undelegateRequest(intent: Intent): StoredSendRequest {
  return { kind: 'undelegate', ...toFields(intent) }
}

/** Keeps that a send came signed. */
export function rawRequest(nonce: bigint): StoredSendRequest {
  return { kind: 'raw', nonce: nonce.toString() }
}

export function readSendRequest(json: string): StoredSendRequest {
  return JSON.parse(json) as StoredSendRequest
}
