import { type Approver, activityParams, type CredentialFacts, type PolicyContext } from '../policy/index.ts'
import { activityRow } from '../protocol/catalogue.ts'
import type { RootQuorum } from './organization.ts'

/** The request, and its time. */
export interface Request {
  readonly type: string
  /** The intent of the activity. */
  readonly parameters: object
  /** Trusted time, milliseconds since the epoch. */
  readonly nowMs: number
  /** The roots of the request: wallets, transactions, its several calls. */
  readonly facts?: Partial<PolicyContext> | undefined
}

/** The policy context of a request with these approvals, the submitter's first. */
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
    // A submission has one.
    credentials:
      by.credentials.length < 2 ? by.credentials : [...new Map(by.credentials.map((one) => [one.id, one])).values()],
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
