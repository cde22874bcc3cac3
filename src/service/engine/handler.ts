import type { JsonObject } from '../../encoding/index.ts'
import type { PolicyContext } from '../../policy/index.ts'
import type { Chains } from '../chains/index.ts'
import type { SealedPlace } from '../keys/index.ts'
import type { CheckWebhookUrl } from '../network/index.ts'
import type { Transaction } from '../store/index.ts'
import type { IdentityOf } from './identities.ts'
import type { Work } from './work.ts'

/** The tools of a handler. Everything happens inside the request's one transaction. */
export interface HandlerContext {
  /** The open transaction. Only functions of `store/` turn it into SQL. */
  readonly tx: Transaction
  readonly organizationId: string
  /** The submitter of the activity (the first vote's user). */
  readonly submitterId: string
  /** Trusted time of this request, in milliseconds since the epoch. */
  readonly now: number
  /** Random bytes, from the injected source. */
  readonly randomBytes: (length: number) => Uint8Array
  /** A new random UUID (version 4). */
  readonly newId: () => string
  /** Seals bytes at rest, bound to the row they stand in, and wipes them; opens them again, for the caller to wipe. */
  readonly seal: (plain: Uint8Array, place: SealedPlace) => Uint8Array
  readonly unseal: (sealed: Uint8Array, place: SealedPlace) => Uint8Array
  /** The identity that an OIDC token of the intent names. */
  readonly identityOf: IdentityOf
  /** The chains that are served. INVARIANT: no node is asked while the transaction is open. */
  readonly chains: Chains
  readonly work: Work
  /** What `examine` was answered when the activity was submitted; stored with it. */
  readonly answers: JsonObject | undefined
}

/** The tools of a handler once the activity is allowed. */
export interface ExecutionContext extends HandlerContext {
  readonly activityId: string
}

/** Questions to the world outside of the store, before a transaction is open. */
export interface Outside {
  readonly checkWebhookUrl: CheckWebhookUrl
  readonly chains: Chains
}

/** How the service carries out one activity type. Throws `ApiError` (protocol) for a request it must refuse. */
export interface Handler<Intent = JsonObject> {
  /**
   * Checks what only the world outside can tell, such as where a host name leads. It runs once, for a caller who is
   * known and bytes that are not, and outside of any transaction: others must not wait for it. What it gives back is stored
   * with the activity, which may wait for a day and for another process: nothing else of it is left by then.
   */
  readonly examine?: (intent: Intent, outside: Outside, organizationId: string) => Promise<JsonObject | undefined>
  /**
   * Checks everything that can be known before anyone has decided: unknown resources, limits, policy texts. It runs
   * before authorization at each submit and again before execution, so it must not write.
   */
  readonly validate?: (context: HandlerContext, intent: Intent) => Promise<void>
  /** The policy roots and the target user that this request defines, besides `activity` and the approvers. */
  readonly facts?: (context: HandlerContext, intent: Intent) => Promise<Partial<PolicyContext>>
  /** Carries it out and returns the result object that goes under the activity's result key. */
  readonly execute: (context: ExecutionContext, intent: Intent) => Promise<JsonObject>
}

/** An activity type that this version does not carry out, and why; submitting it is refused with code 12. */
export interface NotExecuted {
  readonly notExecuted: string
}
