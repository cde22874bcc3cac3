import type { SendAttemptRow } from '../resources/sends/store.ts'

/** The stored form of a request to send on Solana. */
export interface SolanaRequest {
  /** Base64, as the policies have seen it; its blockhash is zeros where the service fills one in. */
  readonly transaction: string
  /** What names the keys that sign, in the order of the transaction's signers. */
  readonly signWiths: readonly string[]
}

export function readSolanaRequest(json: string): SolanaRequest {
  return JSON.parse(json) as SolanaRequest
}

/** Stored beside a signed transaction: when it can no longer be included, and the fee that it offers. */
export interface SolanaTerms {
  readonly blockhash: string
  /** Blocks after which the blockhash is forgotten; meaningless where a nonce stands in its place. */
  readonly lastValidBlockHeight: number
  /** That the node was at when it was signed: it is in no block before. */
  readonly slot: number
}

export function readSolanaTerms({ terms }: Pick<SendAttemptRow, 'terms'>): SolanaTerms {
  return JSON.parse(terms!) as SolanaTerms
}
