import type { Migration } from './migration.ts'

/** Transactions on their way to a chain, and every signed form that each has had. */
export const sends: Migration = {
  name: '0005-sends',
  statements: [
    `create table sends (
      id text primary key, organization_id text not null references organizations (id), caip2 text not null,
      sender text not null, request text not null, status text not null, nonce integer, hash text,
      failure text, position integer not null unique, created_at integer not null, updated_at integer not null
    ) strict`,
    `create index sends_open on sends (caip2, sender, position) where status in ('INITIALIZED', 'BROADCASTING')`,
    'create index sends_nonce on sends (caip2, sender, nonce)',
    `create table send_attempts (
      send_id text not null references sends (id) on delete cascade, organization_id text not null, number integer not null,
      hash text not null, signed_transaction text not null, fees text not null, created_at integer not null,
      primary key (send_id, number)
    ) strict, without rowid`,
  ],
}
