import type { Migration } from './migration.ts'

/** Who pays for sponsored sends and how much, and what each has cost. */
export const gasUsage: Migration = {
  name: '0008-gas-usage',
  statements: [
    `create table gas_usage_configs (
      organization_id text primary key references organizations (id), id text not null, org_window_limit_usd text not null,
      sub_org_window_limit_usd text not null, window_duration_minutes integer not null, enabled integer not null,
      solana_config text, created_at integer not null, updated_at integer not null
    ) strict, without rowid`,
    `create table gas_usages (
      send_id text primary key references sends (id), organization_id text not null references organizations (id),
      paying_organization_id text not null references organizations (id), micro_usd integer not null,
      created_at integer not null
    ) strict, without rowid`,
    'create index gas_usages_window on gas_usages (paying_organization_id, created_at, organization_id, micro_usd)',
  ],
}
