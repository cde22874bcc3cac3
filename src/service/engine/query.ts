import type { JsonObject } from '../../encoding/index.ts'
import type { Chains } from '../chains/index.ts'
import type { OnRamp } from '../on-ramp/index.ts'
import type { ActivityRecordRow, Transaction } from '../store/index.ts'
import type { OutsideAnswers } from './prepared.ts'

/** The tools of a query: one consistent view of the store, in which nothing can be written. */
export interface QueryContext {
  readonly tx: Transaction
  /** The organization that is read: the caller's own, or a sub-organization of it. */
  readonly organizationId: string
  /** The asking user, and the organization that they belong to. */
  readonly caller: { readonly userId: string; readonly organizationId: string }
  /** Trusted time of this request, in milliseconds since the epoch. */
  readonly now: number
  /** The identity that an OIDC token of the request names. */
  readonly identityOf: OutsideAnswers['identityOf']
  readonly chains: Chains
  readonly onRamp: OnRamp
  /** Writes activities as the caller sees them, with votes and with what the caller may do about them. */
  readonly viewActivities: (activities: readonly ActivityRecordRow[]) => Promise<JsonObject[]>
}

/**
 * How the service answers one query. The request has been checked against its shape; `organizationId` in it may be the
 * parent of the one in the context. Where somebody outside must be asked, the answer is a function that asks, which is
 * called when the store is no longer held. Throws `ApiError` (protocol) for what it must refuse.
 */
export type QueryHandler = (
  context: QueryContext,
  request: JsonObject,
) => Promise<JsonObject | (() => Promise<JsonObject>)>
