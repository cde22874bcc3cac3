/** What a send becomes on the chain before gas and fees are known, as a draft: the shapes that its makers share. */
import type { Authorization } from '../../chain/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { EthereumCall } from '../nodes/index.ts'

export interface SendDraft {
  readonly call: EthereumCall
  readonly authorization?: Authorization
  /** The account's calls in an execution, whose own call goes to the gas station. */
  readonly executes?: readonly EthereumCall[]
}

/** Why there is no draft: there never will be, or something else must be included first (`Handover`). */
export type NoDraft = { readonly failure: Wire.TxError } | 'later' | 'waits'

/** The chain and nonce of a draft. */
export interface ChainNonce {
  readonly chainId: bigint
  readonly nonce: number
}

/** Which open sends concern an account. */
export interface OnTheWay {
  /** It has transactions of its own. */
  readonly sends: boolean
  /** Somebody else's transaction authorizes for it. */
  readonly authorizes: boolean
  /** Its code is used, or changed. */
  readonly delegates: boolean
}
