import type { BatchOutline, PlanOutline } from '../src/plan/index.ts'
import type { Address } from '../src/resources/index.ts'

/** Inputs and results of Temporal activities. Plain JSON: histories hold them. */

/** A plan's batches without their contents: enough to walk them, small at any size of organization. */
export interface Outline extends PlanOutline {
  readonly batches: readonly OutlineBatch[]
}

export interface OutlineBatch extends BatchOutline {
  /** Addresses whose ids its body needs and that earlier batches of this plan bring. */
  readonly needs: readonly Address[]
}

/** One batch of a plan in the plan store, for a run that carries the plan out. */
export interface Step {
  readonly planDigest: string
  /** The token of the run, which the plan store knows. */
  readonly run: string
  readonly batch: number
}

export type Ids = Readonly<Record<Address, string>>

/** Whether a plan may be carried out: it is not spent, and the organization is still as it was made for. */
export type Freshness =
  | { readonly fresh: true }
  /** The plan was carried out before, and this came of it. */
  | { readonly fresh: false; readonly earlier: ApplyProgress }
  /** `plan/stale`, naming what moved. */
  | { readonly fresh: false; readonly error: Failure }

/** A body made and stored, or the pending activity that asks for the same thing already. */
export type Prepared =
  | { readonly kind: 'made'; readonly fingerprint: string }
  | { readonly kind: 'found'; readonly activity: ActivityState }

/** An activity, reduced to what a walk needs. */
export interface ActivityState {
  readonly activityId: string
  readonly fingerprint: string
  /** `submitting`: authorized, execution under way. `waiting`: more approvals are needed. */
  readonly state: 'submitting' | 'waiting' | 'completed' | 'failed' | 'rejected'
  /** When it was submitted, ISO 8601. */
  readonly since: string
  /** Names of the users whose approvals count now: given within the open 24-hour window. */
  readonly approved: readonly string[]
  /** It waits, and the acting user's approval is missing or has lapsed. */
  readonly needsVote: boolean
  /** Ids that it brought, when completed. */
  readonly produced?: Ids
  readonly error?: Failure
}

/** Why something did not work: our code, one sentence, and what to do next. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly next?: string
}

/** The progress of an apply; its workflow's query answer and, at the end, its result. */
export interface ApplyProgress {
  readonly planDigest: string
  readonly state: 'running' | 'waiting' | 'done' | 'failed' | 'rejected' | 'cancelled' | 'stale'
  /** ISO 8601. */
  readonly startedAt: string
  readonly batches: readonly BatchProgress[]
  /** Why nothing could be done at all, or why it does not go on just now. */
  readonly error?: Failure
}

export interface BatchProgress {
  readonly index: number
  readonly type: string
  readonly summary: string
  readonly state: 'pending' | 'submitting' | 'waiting' | 'completed' | 'failed' | 'rejected' | 'skipped'
  readonly activityId?: string
  readonly fingerprint?: string
  /** When its activity was submitted, ISO 8601. */
  readonly since?: string
  readonly votes?: { readonly approved: readonly string[] }
  /** Why it failed, or what its next try waits for. */
  readonly error?: Failure
}
