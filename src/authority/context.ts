import { type Approver, activityParams, type CredentialFacts, type PolicyContext } from '../policy/index.ts'
import { activityRow } from '../protocol/catalogue.ts'
import type { RootQuorum } from './organization.ts'

/** What is asked for, and when. */
export interface Request {
  readonly type: string
  /** The intent of the activity. */
  readonly parameters: object
  /** Trusted time, milliseconds since the epoch. */
  readonly nowMs: number
  /** What the request is about beyond itself: wallets, transactions, its several calls. */
  readonly facts?: Partial<PolicyContext> | undefined
}

/** What policies read of a request that these have approved, the submitter first. */
export function contextOf(
  { type, parameters, nowMs, facts }: Request,
  by: {
    readonly approvers: readonly Approver[]
    readonly credentials: readonly CredentialFacts[]
    readonly rootQuorum: RootQuorum
  },
): PolicyContext {
  return {
    now: BigInt(nowMs) * 1_000_000n,
    activity: { type, params: activityParams(type, parameters) },
    approvers: by.approvers,
    credentials: [...new Map(by.credentials.map((one) => [one.id, one])).values()],
    rootQuorum: by.rootQuorum,
    ...targetOf(type, parameters),
    ...facts,
  }
}

/** Whose credentials it is about, which their owner may change alone where no policy decides (U-own-cred-scope). */
function targetOf(type: string, parameters: object): Pick<PolicyContext, 'targetUserId'> {
  if (activityRow(type)?.resource !== 'CREDENTIAL') return {}
  const { userId } = parameters as { readonly userId?: unknown }
  return typeof userId === 'string' ? { targetUserId: userId } : {}
}
