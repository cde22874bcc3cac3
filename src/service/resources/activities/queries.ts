import { apiError, REQUEST_LIMITS, readPagination, toTimestamp, type Wire } from '../../../protocol/index.ts'
import { decodeOutcomes, type QueryContext, type QueryHandler } from '../../engine/index.ts'
import { type ActivityRecordRow, findActivityById, listActivityRows, listPolicyEvaluations } from '../../store/index.ts'

/** `get_activity`: one activity as the caller sees it. */
export const getActivity: QueryHandler = async (context, request) => {
  const { activityId } = request as unknown as Wire.GetActivityRequest
  const [activity] = await context.viewActivities([await readActivity(context, activityId)])
  return { activity: activity! }
}

/** `list_activities`: newest first, as many as one answer has room for; `before` and `after` are ids of activities. */
export const listActivities: QueryHandler = async (context, request) => {
  const { filterByStatus = [], filterByType = [], paginationOptions } = request as unknown as Wire.GetActivitiesRequest
  const { limit, before, after } = readPagination(paginationOptions)
  const activities = await listActivityRows(context.tx, context.organizationId, {
    statuses: filterByStatus,
    types: filterByType,
    limit,
    mostBytes: REQUEST_LIMITS.pageBytes,
    ...(before === undefined ? {} : { beforePosition: await readCursor(context, before) }),
    ...(after === undefined ? {} : { afterPosition: await readCursor(context, after) }),
  })
  return { activities: await context.viewActivities(activities) }
}

/**
 * `get_policy_evaluations`: what each policy made of each vote, also of one that was denied and so is none.
 *
 * Unstated: the wire has no cursor for them, so those of the last votes are told, as many as one answer has room for
 * (docs/protocol/activities.md#evaluations).
 */
export const getPolicyEvaluations: QueryHandler = async (context, request) => {
  const { activityId } = request as unknown as Wire.GetPolicyEvaluationsRequest
  const activity = await readActivity(context, activityId)
  const rows = await listPolicyEvaluations(context.tx, context.organizationId, activity.id, {
    mostBytes: REQUEST_LIMITS.pageBytes,
  })
  return {
    policyEvaluations: rows.map((row) => ({
      id: row.id,
      activityId: row.activity_id,
      organizationId: row.organization_id,
      voteId: row.vote_id,
      policyEvaluations: decodeOutcomes(row),
      createdAt: { ...toTimestamp(row.created_at) },
    })),
  }
}

async function readActivity(context: QueryContext, id: string): Promise<ActivityRecordRow> {
  const activity = await findActivityById(context.tx, context.organizationId, id)
  if (!activity) throw apiError('notFound', 'activity', id)
  return activity
}

/** Unstated: an unknown cursor is refused. */
async function readCursor(context: QueryContext, id: string): Promise<number> {
  const activity = await findActivityById(context.tx, context.organizationId, id)
  if (!activity) throw apiError('unknownCursor', id)
  return activity.position
}
