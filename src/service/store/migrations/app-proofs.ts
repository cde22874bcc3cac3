import type { Migration } from './migration.ts'

/** The app proofs of activities that were submitted with `generateAppProofs`. */
export const appProofs: Migration = {
  name: '0023-app-proofs',
  statements: [
    `create table app_proofs (
      activity_id text primary key references activities (id), organization_id text not null references organizations (id),
      proofs text not null
    ) strict, without rowid`,
    'create index app_proofs_organization on app_proofs (organization_id)',
  ],
}
