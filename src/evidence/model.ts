import type { Wire } from '../protocol/index.ts'
import type { Resource } from '../resources/index.ts'

/** Told apart from any later form. */
export const FORMAT = 'quorate.evidence/1'

/** A vote as the record keeps it, with no more of its user than the name. */
export type EvidenceVote = Omit<Wire.Vote, 'user'> & { readonly user: { readonly userName: string } }

/** What decided an activity, for somebody who has no access to the organization. Plain JSON; holds no result and no private key. */
export interface ActivityEvidence {
  readonly format: typeof FORMAT
  readonly baseUrl: string
  readonly organization: { readonly id: string; readonly name: string }
  /** ISO 8601. */
  readonly collectedAt: string
  /** Whose key signed the whole. */
  readonly collectedBy: { readonly userId: string; readonly userName: string }
  /** Without its result, of which `resultDigest` is the lower-case hex SHA-256 of the canonical JSON. */
  readonly activity: Omit<Wire.Activity, 'result' | 'votes' | 'canApprove' | 'canReject' | 'appProofs'> & {
    readonly votes: readonly EvidenceVote[]
  }
  readonly resultDigest: string
  /** What lived when it was collected and decides, without what the activity itself has made. */
  readonly state: readonly Resource[]
  /** Activities that changed such things after the activity was decided, so that the state is not the one that decided it. */
  readonly changedSince: readonly { readonly id: string; readonly type: string; readonly at: string }[]
  /** Whether there may be more of these than were looked through. */
  readonly isCut: boolean
  /** What the service says that each policy made of each vote. */
  readonly evaluations: readonly Wire.PolicyEvaluation[]
}

/** Evidence with a stamp over it, by the key of who collected it. */
export interface SignedEvidence {
  readonly evidence: ActivityEvidence
  /** The value of an `X-Stamp` header, over `textOf(evidence)`. */
  readonly signature: string
}
