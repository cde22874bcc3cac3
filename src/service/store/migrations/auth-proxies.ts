import type { Migration } from './migration.ts'

/** The authentication proxy of each parent: its settings, and while it is on its user, policy and sealed key. */
export const authProxies: Migration = {
  name: '0021-auth-proxies',
  statements: [
    `create table auth_proxies (
      organization_id text primary key references organizations (id), config_id text not null unique,
      enabled integer not null, user_id text, policy_id text, public_key text, sealed_private_key blob,
      settings text not null, created_at integer not null, updated_at integer not null
    ) strict, without rowid`,
  ],
}
