import type { ChangedActivity } from '../engine/index.ts'
import type { Producer } from './event.ts'

/** Tells an organization and its parent of an activity that is new or has changed (docs/protocol/webhooks.md#activities). */
export const produceActivity: Producer<ChangedActivity> = async (_, { activity, parentId, isSecret, write }) => {
  const { id, organization_id: organizationId, type, status, updated_at } = activity
  return {
    organizationIds: organizationId === parentId ? [organizationId] : [organizationId, parentId],
    at: updated_at,
    subject: id,
    isSecret,
    facts: { activityTypes: type, activityStatuses: status, organizationIds: organizationId },
    write,
  }
}
