import type { Migration } from './migration.ts'

/** The tables whose lists are in the order of creation, and the index that their position takes the place of. */
const TABLES: Readonly<Record<string, string | undefined>> = {
  users: 'users_organization',
  tags: 'tags_organization',
  api_keys: undefined,
  authenticators: undefined,
  oauth_providers: undefined,
  oauth2_credentials: 'oauth2_credentials_organization',
  invitations: 'invitations_organization',
  policies: undefined,
  wallets: 'wallets_organization',
  private_keys: 'private_keys_organization',
  smart_contract_interfaces: 'smart_contract_interfaces_organization',
  webhook_endpoints: 'webhook_endpoints_organization',
}

/**
 * The order of creation is a column, and the version of an organization's policies is written by the code that changes them:
 * neither needs anything that SQLite alone does. Until now the order was that of the rows in the file.
 */
export const positions: Migration = {
  name: '0017-positions',
  rebuilds: true,
  statements: [
    ...Object.entries(TABLES).flatMap(([table, index]) => [
      `alter table ${table} add column position integer not null default 0`,
      `update ${table} set position = rowid`,
      ...(index === undefined ? [] : [`drop index ${index}`]),
      `create unique index ${table}_position on ${table} (organization_id, position)`,
    ]),
    'alter table organizations add column position integer not null default 0',
    'update organizations set position = rowid',
    'drop index organizations_parent',
    'create unique index organizations_position on organizations (parent_id, position)',
    // Sends of all organizations have one order, which the database gives.
    `create table sends_in_order (
      position integer primary key autoincrement, id text not null unique,
      organization_id text not null references organizations (id), activity_id text not null default '',
      caip2 text not null, sender text not null, account text, request text not null, status text not null,
      nonce integer, hash text, failure text, created_at integer not null, updated_at integer not null
    ) strict`,
    `insert into sends_in_order (position, id, organization_id, activity_id, caip2, sender, account, request, status, nonce,
      hash, failure, created_at, updated_at) select position, id, organization_id, activity_id, caip2, sender, account,
      request, status, nonce, hash, failure, created_at, updated_at from sends`,
    'drop table sends',
    'alter table sends_in_order rename to sends',
    `create index sends_open on sends (caip2, sender, position) where status in ('INITIALIZED', 'BROADCASTING')`,
    'create index sends_nonce on sends (caip2, sender, nonce)',
    `create index sends_account on sends (caip2, account) where status in ('INITIALIZED', 'BROADCASTING')`,
    'create index sends_hash on sends (organization_id, hash)',
    'drop trigger policies_after_insert',
    'drop trigger policies_after_update',
    'drop trigger policies_after_delete',
  ],
}
