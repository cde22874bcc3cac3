import type { Migration } from './migration.ts'

/** Who does the work that one process alone may do, where several serve the database; and codes in an order of their own. */
export const sharedDatabases: Migration = {
  name: '0033-shared-databases',
  statements: [
    `create table leases (
      name text primary key, holder text not null, until integer not null
    ) strict, without rowid`,
    'alter table one_time_passcodes add column position integer not null default 0',
    'create index one_time_passcodes_position on one_time_passcodes (organization_id, position)',
  ],
}
