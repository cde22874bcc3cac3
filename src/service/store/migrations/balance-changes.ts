import type { Migration } from './migration.ts'

/** The blocks that were looked through for changes of balances, and the changes whose blocks are not final yet. */
export const balanceChanges: Migration = {
  name: '0038-balance-changes',
  statements: [
    `create table watched_blocks (
      caip2 text not null, number integer not null, hash text not null, primary key (caip2, number)
    ) strict`,
    `create table balance_changes (
      position integer primary key, organization_id text not null references organizations (id), caip2 text not null,
      block_number integer not null, change text not null
    ) strict`,
    'create index balance_changes_block on balance_changes (caip2, block_number)',
    `create index wallet_accounts_ethereum on wallet_accounts (lower(address))
      where address_format = 'ADDRESS_FORMAT_ETHEREUM'`,
    'create index balance_changes_organization on balance_changes (organization_id)',
  ],
}
