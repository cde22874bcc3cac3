import type { Migration } from './migration.ts'

/** Codes that prove a contact, the messages that they are sent in, and what came of e-mails. */
export const oneTimePasscodes: Migration = {
  name: '0022-one-time-passcodes',
  statements: [
    `create table one_time_passcodes (
      id text primary key, organization_id text not null references organizations (id), flow text not null,
      otp_type text not null, contact text not null, user_identifier text, user_id text, code_hash text,
      sealed_keys blob, failed_attempts integer not null, created_at integer not null, expires_at integer not null
    ) strict`,
    'create index one_time_passcodes_contact on one_time_passcodes (organization_id, contact, created_at)',
    `create index one_time_passcodes_identifier on one_time_passcodes (organization_id, user_identifier, created_at)
      where user_identifier is not null`,
    `create table messages (
      id text primary key, organization_id text not null references organizations (id), sealed_content blob not null,
      attempts integer not null, next_attempt_at integer not null, expires_at integer not null,
      created_at integer not null
    ) strict`,
    'create index messages_next on messages (next_attempt_at)',
    'create index messages_organization on messages (organization_id)',
    `create table email_events (
      position integer primary key, id text not null unique, organization_id text not null references organizations (id),
      message_id text not null, event_type text not null, from_address text not null, to_address text not null,
      details text not null, occurred_at integer not null
    ) strict`,
    'create index email_events_address on email_events (organization_id, to_address, position)',
  ],
}
