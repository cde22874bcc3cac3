import { ChainError, UnreadableTransaction, UnsupportedTransaction } from '../error.ts'

/** The decoded fields, by the names that policies use; values as policy contexts hold them. */
export type Facts = Readonly<Record<string, unknown>>

/** Refuses a transaction in the API's words (docs/protocol/signing.md#transactions), with what is wrong behind them. */
export function refuse(reason: string, cause?: unknown): never {
  throw new UnreadableTransaction(`failed to parse transaction: ${reason}`, cause === undefined ? undefined : { cause })
}

/**
 * Refuses a transaction that can be read but not signed; the reason is said alone
 * (docs/protocol/signing.md#transactions).
 */
export function refuseUnsupported(reason: string): never {
  throw new UnsupportedTransaction(reason)
}

/** Refuses a payload that is signed by its encoding, such as typed data. The API's words for it are not published. */
export function refusePayload(reason: string, cause?: unknown): never {
  throw new ChainError(`failed to parse payload: ${reason}`, cause === undefined ? undefined : { cause })
}

/** Refuses an ABI or an IDL. */
export function refuseInterface(reason: string): never {
  throw new ChainError(`invalid smart contract interface: ${reason}`)
}
