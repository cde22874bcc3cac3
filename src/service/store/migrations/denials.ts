import type { Migration } from './migration.ts'

/** How many denied requests of a user were kept on a day, and how many were only counted. */
export const denials: Migration = {
  name: '0016-denials',
  statements: [
    `create table denials (
      organization_id text not null references organizations (id), user_id text not null, day integer not null,
      kept integer not null, not_kept integer not null, primary key (organization_id, user_id, day)
    ) strict, without rowid`,
  ],
}
