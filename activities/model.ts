import type { BatchOutline, PlanOutline } from '../src/plan/index.ts'
import type { Address } from '../src/resources/index.ts'

/** Inputs and results of Temporal activities. Plain JSON: histories hold them. */

/** A plan's batches without their contents: enough to walk them, small at any size of organization. */
export interface Outline extends PlanOutline {
  readonly batches: readonly OutlineBatch[]
  /** How this very run came to its end, where it did: one that somebody reset at Temporal says the same again. */
  readonly ended?: ApplyProgress
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
  /** Names of the users whose approvals count no more: while it waits, they have to vote again. @default nobody */
  readonly lapsed?: readonly string[]
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
  /** The field that the API blames, by its path in the intent. */
  readonly field?: string
}

/** The progress of an apply; its workflow's query answer and, at the end, its result. */
export interface ApplyProgress {
  readonly planDigest: string
  readonly state: 'running' | 'waiting' | 'done' | 'failed' | 'rejected' | 'cancelled' | 'stale'
  /** ISO 8601. */
  readonly startedAt: string
  readonly batches: readonly BatchProgress[]
  /** Why nothing could be done, or what keeps it from going on just now. */
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
  /** `lapsed`: whose approvals count no more, so that they have to vote again. */
  readonly votes?: { readonly approved: readonly string[]; readonly lapsed?: readonly string[] }
  /** Why it failed, or what its next try waits for. */
  readonly error?: Failure
}

/** What an apply tells the workflow that begins what is inside: how it stands, without its batches. */
export interface ApplyNews {
  readonly planDigest: string
  readonly state: ApplyProgress['state']
  /** Batches that make sub-organizations and are done; those that were told before may be missing. */
  readonly made: readonly number[]
  /** Whether any batch is done. */
  readonly hasDone: boolean
}

/** The sub-organizations that a plan changes, in the order in which they are begun. */
export interface InsideOutline {
  /** Whether the organization's own changes come first. */
  readonly isOwnFirst: boolean
  readonly organizations: readonly {
    readonly name: string
    /** The batch of the organization's own plan that makes it; absent for one that lives. */
    readonly madeBy?: number
  }[]
  /** How this very run came to its end, where it did: one that somebody reset at Temporal says the same again. */
  readonly ended?: InsideProgress
}

/** Where a workflow shows how it stands to who lists workflows at Temporal. */
export type ShownBy = 'search attributes' | 'memo'

/** The apply of a sub-organization that may begin. */
export interface OpenedInside {
  readonly organizationId: string
  readonly planDigest: string
  /** The token of its run. */
  readonly run: string
  /** The Git commit of its definitions. */
  readonly commit?: string
}

/** The progress of all that is inside one organization. */
export interface InsideProgress {
  readonly planDigest: string
  /** `waiting`: for people, here or in the organization's own apply. */
  readonly state: 'running' | 'waiting' | 'over' | 'cancelled' | 'failed'
  readonly organizations: readonly InsideStand[]
  /** Why nothing could be begun, or what keeps it from going on just now. */
  readonly error?: Failure
}

export interface InsideStand {
  readonly name: string
  /**
   * That of its own apply; `pending`: not begun yet · `elsewhere`: another apply of it ran already · `left`: never begun, since
   * it was not made or nothing of the organization's own plan could be done.
   */
  readonly state: ApplyProgress['state'] | 'pending' | 'elsewhere' | 'left'
  /** Of its own apply, once that may begin. */
  readonly organizationId?: string
  readonly planDigest?: string
  readonly error?: Failure
}
