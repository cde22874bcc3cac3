import type { Migration } from './migration.ts'

/** The mark of an exported account, what is imported to, and the ways to find a key by what names it. */
export const signing: Migration = {
  name: '0004-signing',
  statements: [
    'alter table wallet_accounts add column exported integer not null default 0',
    'create index wallet_accounts_public_key on wallet_accounts (organization_id, public_key)',
    'create index private_keys_public_key on private_keys (organization_id, public_key)',
    `create table import_targets (
      public_key text primary key, organization_id text not null references organizations (id), user_id text not null,
      kind text not null, sealed_private_key blob not null, created_at integer not null
    ) strict, without rowid`,
    'create index import_targets_user on import_targets (organization_id, user_id, kind)',
  ],
}
