import type { Migration } from './migration.ts'

/** The keys of wallet accounts, sealed by themselves; accounts that are older have none and are derived. */
export const accountKeys: Migration = {
  name: '0006-account-keys',
  statements: [
    `create table wallet_account_keys (
      account_id text primary key references wallet_accounts (id) on delete cascade,
      organization_id text not null references organizations (id), sealed_private_key blob not null
    ) strict, without rowid`,
    'create index wallet_account_keys_organization on wallet_account_keys (organization_id)',
  ],
}
