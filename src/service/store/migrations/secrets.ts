import type { Migration } from './migration.ts'

/** Secrets of clients, sealed, with what policies may know of them. */
export const secrets: Migration = {
  name: '0027-secrets',
  statements: [
    `create table secrets (
      id text primary key, organization_id text not null references organizations (id), name text,
      static_properties text not null, sealed_secret blob not null, position integer not null, created_at integer not null
    ) strict`,
    'create unique index secrets_position on secrets (organization_id, position)',
    'create unique index secrets_name on secrets (organization_id, name)',
  ],
}
