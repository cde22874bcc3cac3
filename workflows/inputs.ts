import type { ShownBy } from '../activities/model.ts'
import type { CarriedRun } from './apply-run.ts'
import type { CarriedInside } from './inside-run.ts'

export interface ApplyInput {
  readonly organizationId: string
  readonly planDigest: string
  /** The token with which the plan store let this run in. Absent in histories of before, whose steps are refused today. */
  readonly run?: string
  /** Absent where the plan changes nothing inside. */
  readonly inside?: {
    /** The token with which the plan store let the run in that begins what is inside. */
    readonly run: string
    /** Batches that make sub-organizations. */
    readonly makers: readonly number[]
  }
  /** The workflow that is told how this one stands: the one that begins what is inside, or has begun this one. */
  readonly tells?: string
  /** @default nowhere */
  readonly shownBy?: ShownBy
  /** The Git commit of the plan's definitions, to be shown with it. */
  readonly commit?: string
  /** Only from an earlier run of the same apply. */
  readonly carried?: CarriedRun
}

export interface ApplyInsideInput {
  readonly organizationId: string
  readonly planDigest: string
  /** The token with which the plan store let this run in. */
  readonly run: string
  /** Another run applies the organization's own changes, and tells nothing here: what lives is begun, and nothing else. */
  readonly isOwnElsewhere?: boolean
  /** Of itself and of the applies that it begins. @default nowhere */
  readonly shownBy?: ShownBy
  /** Only from an earlier run of the same. */
  readonly carried?: CarriedInside
}

export interface ReconcileInput {
  readonly organizationId: string
}
