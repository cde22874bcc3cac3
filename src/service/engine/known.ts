import type { ActivityRecordRow } from '../store/index.ts'
import type { Caller } from './caller.ts'

/** Verified facts about a request, noted for its line in the operator's log. Nothing that the request only claims. */
export interface Known {
  /** The organization in which the request runs, and the user of its stamp. */
  organizationId?: string
  userId?: string
  /** The activity that it began or voted on, once that is on disk. */
  activityId?: string
  activityStatus?: string
  /** Whether a request that was denied is kept, or only counted. */
  denial?: 'kept' | 'counted'
}

/** Notes the caller, also of a request that is refused later, and gives it back. */
export function noteCaller(known: Known, caller: Caller): Caller {
  known.organizationId = caller.organizationId
  known.userId = caller.userId
  return caller
}

/** Notes the result of a submit; to be called after the commit. */
export function noteOutcome(
  known: Known,
  { activity, denialIs }: { readonly activity?: ActivityRecordRow; readonly denialIs?: Known['denial'] },
): void {
  if (denialIs) known.denial = denialIs
  if (!activity) return
  known.activityId = activity.id
  known.activityStatus = activity.status
}
