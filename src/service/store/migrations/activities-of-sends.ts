import type { Migration } from './migration.ts'

/** Which activity each send was asked for by. */
export const activitiesOfSends: Migration = {
  name: '0010-activities-of-sends',
  statements: [
    `alter table sends add column activity_id text not null default ''`,
    `update sends set activity_id = coalesce((
      select activities.id from activities where activities.organization_id = sends.organization_id
      and json_extract(activities.result, '$.sendTransactionStatusId') = sends.id
    ), '')`,
  ],
}
