import type { Migration } from './migration.ts'

/** Whether a secret was ever exported; of before, what an export that was carried out has named. */
export const exportedSecrets: Migration = {
  name: '0043-exported-secrets',
  statements: [
    'alter table secrets add column exported integer not null default 0',
    `update secrets set exported = 1 where exists (select 1 from activities
      where activities.organization_id = secrets.organization_id and activities.type = 'ACTIVITY_TYPE_EXPORT_SECRETS'
        and activities.status = 'ACTIVITY_STATUS_COMPLETED' and lower(activities.intent) like '%' || secrets.id || '%')`,
  ],
}
