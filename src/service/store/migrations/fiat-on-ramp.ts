import type { Migration } from './migration.ts'

/** Accounts at on-ramp providers, their secrets as they came, and the purchases that were begun. */
export const fiatOnRamp: Migration = {
  name: '0028-fiat-on-ramp',
  statements: [
    `create table fiat_on_ramp_credentials (
      id text primary key, organization_id text not null references organizations (id), provider text not null,
      project_id text, publishable_api_key text not null, encrypted_secret_api_key text not null,
      encrypted_private_api_key text, sandbox_mode integer not null, position integer not null,
      created_at integer not null, updated_at integer not null
    ) strict`,
    'create unique index fiat_on_ramp_credentials_position on fiat_on_ramp_credentials (organization_id, position)',
    `create table on_ramp_transactions (
      id text primary key, organization_id text not null references organizations (id), credential_id text not null,
      provider text not null, sandbox_mode integer not null, created_at integer not null
    ) strict`,
    'create index on_ramp_transactions_organization on on_ramp_transactions (organization_id)',
  ],
}
