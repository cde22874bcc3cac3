import type { ShownBy } from '../activities/model.ts'
import type { CarriedRun } from './apply-run.ts'
import type { CarriedInside } from './inside-run.ts'

export interface ApplyInput {
  readonly organizationId: string
  readonly planDigest: string
  /** The token with which the plan store let this run in. Absent in histories of old versions, whose steps are refused. */
  readonly run?: string
  /** Absent if the plan changes no sub-organization. */
  readonly inside?: {
    /** The token of the run that begins the applies of sub-organizations. */
    readonly run: string
    /** Indexes of the batches that make sub-organizations. */
    readonly makers: readonly number[]
  }
  /** The id of the `applyInside` that is told how this apply stands: the one that it begins, or that has begun it. */
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
  /** Whether another run applies the organization's own changes, and tells nothing here: then only sub-organizations that exist are applied. */
  readonly isOwnElsewhere?: boolean
  /** Of itself and of the applies that it begins. @default nowhere */
  readonly shownBy?: ShownBy
  /** Only from an earlier run of the same. */
  readonly carried?: CarriedInside
}

export interface ReconcileInput {
  readonly organizationId: string
}
