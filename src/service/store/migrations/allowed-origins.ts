import type { Migration } from './migration.ts'

/** The origins that an organization takes passkeys from, beside the one of its feature. */
export const allowedOrigins: Migration = {
  name: '0030-allowed-origins',
  statements: [
    `create table allowed_origins (
      organization_id text primary key references organizations (id), origins text not null
    ) strict, without rowid`,
  ],
}
