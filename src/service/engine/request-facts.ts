import type { ActivityRecordRow } from '../store/index.ts'
import type { Caller } from './caller.ts'

/** Verified facts about a request, for its line in the operator's log. Nothing that the request only claims. */
export interface RequestFacts {
  /** The organization in which the request runs, and the user of its stamp. */
  readonly organizationId?: string
  readonly userId?: string
  /** The activity that it began or voted on, once that is on disk. */
  readonly activityId?: string
  readonly activityStatus?: string
  /** Whether a request that was denied is kept, or only counted. */
  readonly denial?: 'kept' | 'counted'
}

/**
 * Called with facts as soon as they are verified, also of a request that is refused later. The engine reads nothing back
 * and decides nothing by it.
 */
export type ReportFacts = (facts: RequestFacts) => void

/** The caller of a request. */
export function factsOfCaller({ organizationId, userId }: Caller): RequestFacts {
  return { organizationId, userId }
}

/** The result of a submit that is on disk. */
export function factsOfOutcome({
  activity,
  denialIs,
}: {
  readonly activity?: ActivityRecordRow
  readonly denialIs?: RequestFacts['denial']
}): RequestFacts {
  return {
    ...(denialIs && { denial: denialIs }),
    ...(activity && { activityId: activity.id, activityStatus: activity.status }),
  }
}
