import type { JsonObject } from '../../encoding/index.ts'
import type { PolicyContext } from '../../policy/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { Chains } from '../chains/index.ts'
import type { CheckWebhookUrl } from '../network/index.ts'
import type { BegunOnRamp, OnRamp } from '../on-ramp/index.ts'
import type { MadeAddress } from '../proofs/index.ts'
import type { Rows, Transaction } from '../store/index.ts'
import type { FollowUp } from './follow-ups.ts'
import type { HandlerTools } from './handler-tools.ts'
import type { OutsideAnswers } from './prepared.ts'
import type { Work } from './work.ts'

/** One request as its handler sees it. Everything happens inside the request's one transaction. */
export interface HandlerContext<Answers = unknown> extends HandlerTools, OutsideAnswers<Answers> {
  /** The open transaction. Only functions of `store/` turn it into SQL. */
  readonly tx: Transaction
  readonly organizationId: string
  /** The organization of the submitter: `organizationId`, or its parent for what a parent may do inside. */
  readonly homeId: string
  /** The submitter of the activity (the first vote's user). */
  readonly submitterId: string
  /** Trusted time of this request, in milliseconds since the epoch. */
  readonly now: number
  readonly work: Work
}

/** The context of a handler once the activity is allowed. */
export interface ExecutionContext<Answers = unknown> extends HandlerContext<Answers> {
  readonly activityId: string
  /** Notes an address that was made, for those who asked for proofs. */
  readonly noteAddress: (made: MadeAddress) => void
  /** Has a follow-up run once the transaction is committed: once for each name, and never if it is undone. */
  readonly afterCommit: (followUp: FollowUp) => void
}

/** Questions to the world outside of the store, before a transaction is open. */
export interface Outside {
  readonly checkWebhookUrl: CheckWebhookUrl
  readonly chains: Chains
  readonly onRamp: OnRamp
  /** Exchanges a code at an OAuth 2.0 provider, and says whose it was. */
  readonly exchangeCode: (intent: Wire.Oauth2AuthenticateIntent, organizationId: string) => Promise<ExchangedCode>
}

export type { BegunOnRamp }

/** What a provider has said of a code, as it is kept with the activity. */
export interface ExchangedCode {
  readonly audience: string
  readonly subject: string
  /** The access token, for the key of the client alone. */
  readonly encryptedBearerToken?: string
}

/** How the service carries out one activity type. Throws `ApiError` (protocol) for a request it must refuse. */
export interface Handler {
  /**
   * Asks what only the world outside can tell, such as where a host name leads. It runs once, for a caller who is
   * known and bytes that are not, and outside of any transaction: others must not wait for it. Its answers are stored
   * with the activity, which may wait for a day and for another process: nothing else of it is left by then.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that only refuses has no answers.
  readonly prepare?: (intent: JsonObject, outside: Outside, organizationId: string) => Promise<JsonObject | void>
  /**
   * Makes the organization that the request names, before its caller is looked for in it; only for who may (`enrolment.ts`).
   * The answers say so then: `{founded: true}`.
   */
  readonly found?: (context: HandlerContext, intent: JsonObject) => Promise<void>
  /**
   * Checks everything that can be known before anyone has decided: unknown resources, limits, policy texts. It runs
   * before authorization at each submit and again before execution, so it must not write.
   */
  readonly validate?: (context: HandlerContext, intent: JsonObject) => Rows<void>
  /** The policy roots and the target user that this request defines, besides `activity` and the approvers. */
  readonly facts?: (context: HandlerContext, intent: JsonObject) => Promise<Partial<PolicyContext>>
  /** Carries it out and returns the result object that goes under the activity's result key. */
  readonly execute: (context: ExecutionContext, intent: JsonObject) => Rows<JsonObject>
}

/** An activity type that this version does not carry out, and why; submitting it is refused with code 12. */
export interface NotExecuted {
  readonly notExecuted: string
}
