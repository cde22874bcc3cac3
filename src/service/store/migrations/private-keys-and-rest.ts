import type { Migration } from './migration.ts'

const MADE = 'created_at integer not null, updated_at integer not null'
const ORGANIZATION = 'organization_id text not null references organizations (id)'

/** Private keys, contract interfaces, webhook endpoints, invitations, OAuth 2.0 credentials, IP allow-lists. */
export const privateKeysAndRest: Migration = {
  name: '0002-private-keys-and-rest',
  statements: [
    `create table private_keys (
      id text primary key, ${ORGANIZATION}, name text not null, curve text not null, public_key text not null,
      sealed_private_key blob not null, exported integer not null, imported integer not null,
      disabled integer not null, ${MADE}
    ) strict`,
    'create index private_keys_organization on private_keys (organization_id)',
    `create table private_key_addresses (
      ${ORGANIZATION}, private_key_id text not null references private_keys (id) on delete cascade,
      position integer not null, format text not null, address text not null, primary key (private_key_id, position)
    ) strict, without rowid`,
    'create index private_key_addresses_address on private_key_addresses (organization_id, address)',
    `create table smart_contract_interfaces (
      id text primary key, ${ORGANIZATION}, address text not null, interface text not null, type text not null,
      label text not null, notes text not null, ${MADE}
    ) strict`,
    'create index smart_contract_interfaces_organization on smart_contract_interfaces (organization_id)',
    `create table webhook_endpoints (
      id text primary key, ${ORGANIZATION}, url text not null, name text not null, is_active integer not null,
      subscriptions text not null, ${MADE}
    ) strict`,
    'create index webhook_endpoints_organization on webhook_endpoints (organization_id)',
    `create table invitations (
      id text primary key, ${ORGANIZATION}, receiver_user_name text not null, receiver_user_email text not null,
      receiver_user_tags text not null, access_type text not null, sender_user_id text not null, ${MADE}
    ) strict`,
    'create index invitations_organization on invitations (organization_id)',
    `create table oauth2_credentials (
      id text primary key, ${ORGANIZATION}, provider text not null, client_id text not null,
      encrypted_client_secret text not null, ${MADE}
    ) strict`,
    'create index oauth2_credentials_organization on oauth2_credentials (organization_id)',
    `create table ip_allowlists (
      organization_id text primary key references organizations (id), enabled integer not null,
      on_evaluation_error text, rules text not null
    ) strict, without rowid`,
    `create table api_key_ip_allowlists (
      organization_id text not null, public_key text not null, on_evaluation_error text, rules text not null,
      primary key (organization_id, public_key),
      foreign key (organization_id, public_key) references api_keys (organization_id, public_key) on delete cascade
    ) strict, without rowid`,
  ],
}
