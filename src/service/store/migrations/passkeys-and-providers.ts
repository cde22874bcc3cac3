import type { Migration } from './migration.ts'

/** Passkeys, OAuth providers, proved contacts, the mark of a deleted organization, and the ways to look one up. */
export const passkeysAndProviders: Migration = {
  name: '0003-passkeys-and-providers',
  statements: [
    'alter table organizations add column deleted_at integer',
    `create table authenticators (
        id text primary key, organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, name text not null, credential_id text not null,
        public_key text not null, transports text not null, attestation_type text not null, aaguid text not null,
        model text not null, rp_id_hash text not null, backup_eligible integer not null, sign_count integer not null,
        created_at integer not null, updated_at integer not null, unique (organization_id, credential_id)
      ) strict`,
    'create index authenticators_user on authenticators (user_id)',
    'create index authenticators_credential on authenticators (credential_id)',
    `create table oauth_providers (
        id text primary key, organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, name text not null, issuer text not null,
        audience text not null, subject text not null, created_at integer not null, updated_at integer not null,
        unique (organization_id, issuer, audience, subject)
      ) strict`,
    'create index oauth_providers_user on oauth_providers (user_id)',
    'create index oauth_providers_subject on oauth_providers (issuer, audience, subject)',
    `create table verified_contacts (
        organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, type text not null, contact text not null,
        primary key (organization_id, user_id, type)
      ) strict, without rowid`,
    'create index verified_contacts_contact on verified_contacts (type, contact)',
    'create index verified_contacts_user on verified_contacts (user_id)',
    'create index organizations_name on organizations (parent_id, name)',
    'create index users_name on users (name)',
    'create index users_email on users (lower(email))',
    'create index users_phone_number on users (phone_number)',
    'create index wallet_accounts_any_address on wallet_accounts (address)',
  ],
}
