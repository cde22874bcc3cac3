import type { Migration } from './migration.ts'

/**
 * Lists of activities by status and by type read no others. Nearly all of an organization's are completed, and for those
 * nothing more is written.
 */
export const listsOfActivities: Migration = {
  name: '0015-lists-of-activities',
  statements: [
    `create index activities_not_completed on activities (organization_id, status, position)
      where status <> 'ACTIVITY_STATUS_COMPLETED'`,
    'create index activities_type on activities (organization_id, type, position)',
  ],
}
