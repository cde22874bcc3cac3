import type { Migration } from './migration.ts'

/** MFA policies of users, and what each vote left open of them. */
export const mfaPolicies: Migration = {
  name: '0025-mfa-policies',
  statements: [
    `create table mfa_policies (
      id text primary key, organization_id text not null references organizations (id),
      user_id text not null references users (id) on delete cascade, name text not null, condition text not null,
      steps text not null, evaluation_order integer not null, notes text not null, position integer not null,
      created_at integer not null, updated_at integer not null
    ) strict`,
    'create unique index mfa_policies_position on mfa_policies (organization_id, position)',
    'create index mfa_policies_user on mfa_policies (user_id)',
    'alter table votes add column mfa_policy_id text',
    'alter table votes add column mfa_pending integer not null default 0',
  ],
}
