/** What a node is asked to run before anything is sent, and what it says of it. */
import type { SendOrder } from '../../activities/index.ts'
import type { SendDescription } from './description.ts'

export interface ToBeSent {
  readonly order: Pick<SendOrder, 'type' | 'parameters' | 'from' | 'to' | 'reference'>
  readonly description: SendDescription
}

/** A balance that is looked at: of an address in the currency of a chain, or in a token. */
export interface Holding {
  readonly address: string
  /** Its contract or mint. @default the currency of the chain */
  readonly token?: string
}

/** What one node says. */
export interface Ran {
  /** Number of the block that it was run on; on Solana the slot. */
  readonly block?: string
  /** Balances before it and after it, as the holdings that were asked for; undefined where it does not say. */
  readonly before: readonly (bigint | undefined)[]
  readonly after: readonly (bigint | undefined)[]
  /** Units of gas that each has used, on Ethereum. */
  readonly gas?: readonly (bigint | undefined)[]
  /** Whether the balances after it are without what the fees have taken. */
  readonly isFeeTaken?: boolean
  /** Why each would fail, in its words. */
  readonly failures: readonly (string | undefined)[]
  /** Why something of this is not known. */
  readonly unknown?: string
}

export const nothingKnown = (unknown: string): Ran => ({ before: [], after: [], failures: [], unknown })

/** Balances that are asked for one by one. */
export const MOST_READ = 20
