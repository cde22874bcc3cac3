/**
 * What one decision is made from, in plain values: whole numbers are bigints, hex and other text are strings. A root
 * that is absent is undefined for the request, and a field that is absent is missing (docs/protocol/policies.md#roots).
 */
export interface PolicyContext {
  /** Trusted server time, nanoseconds since the epoch. */
  readonly now: bigint
  readonly activity: { readonly type: string; readonly params?: Readonly<Record<string, unknown>> }
  /** One entry a user, the submitter first; lapsed and rejecting votes are not in it. */
  readonly approvers: readonly Approver[]
  /** One entry for each distinct credential that those approvals were made with. */
  readonly credentials?: readonly CredentialFacts[]
  readonly rootQuorum?: { readonly userIds: readonly string[]; readonly threshold: number }
  /** The user whose credentials the activity is about, where it is about one's credentials. */
  readonly targetUserId?: string
  readonly wallet?: Readonly<Record<string, unknown>>
  readonly wallet_account?: Readonly<Record<string, unknown>>
  readonly private_key?: Readonly<Record<string, unknown>>
  readonly wallets?: readonly Readonly<Record<string, unknown>>[]
  readonly secret?: Readonly<Record<string, unknown>>
  readonly eth?: Readonly<Record<string, unknown>>
  readonly solana?: Readonly<Record<string, unknown>>
  readonly tron?: Readonly<Record<string, unknown>>
  readonly bitcoin?: Readonly<Record<string, unknown>>
  readonly tempo?: Readonly<Record<string, unknown>>
  /** Items of an activity with several calls, each overriding the context (U-batch). */
  readonly batch?: readonly Partial<PolicyContext>[]
}

export interface Approver {
  readonly id: string
  readonly tags?: readonly string[]
  readonly email?: string
  readonly alias?: string
}

export interface CredentialFacts {
  readonly id: string
  readonly user_id: string
  readonly type: string
  readonly credential_id?: string
  readonly public_key?: string
  /** Of a session's key that has one; no expression reads it. */
  readonly session_profile_id?: string
}

/** A policy as it is stored; an absent field holds. */
export interface PolicyText {
  readonly id: string
  readonly name: string
  readonly effect: 'EFFECT_ALLOW' | 'EFFECT_DENY'
  readonly consensus?: string | undefined
  readonly condition?: string | undefined
  readonly time?: string | undefined
}

/** The three expressions of a policy. */
export type PolicyField = 'consensus' | 'condition' | 'time'

export type Outcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_REJECTED'
  | 'OUTCOME_ERROR'
  | 'OUTCOME_REQUIRES_AUTHENTICATORS'
  | 'OUTCOME_TIME_INACTIVE'

/** The outcome of one request, and of each policy that was evaluated. */
export interface Decision {
  readonly outcome: Outcome
  /** The line of the decision that settled it (docs/protocol/policies.md#the-decision). */
  readonly basis: 'root-quorum' | 'root-only' | 'policy' | 'own-credentials' | 'quorum-begun' | 'nothing-allows'
  /** In the order of the policies given; empty when policies were not consulted. */
  readonly policies: readonly PolicyOutcome[]
}

export interface PolicyOutcome {
  readonly policyId: string
  readonly outcome: Outcome
  /** Why, for `OUTCOME_ERROR`: kind, message, the field and the offsets in its text. */
  readonly error?: {
    readonly kind: string
    readonly message: string
    readonly field: PolicyField
    readonly start: number
    readonly end: number
  }
}
