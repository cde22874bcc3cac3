import type { Migration } from './migration.ts'

/** Up to which nonce the transactions of an address are known here, and those that somebody else has sent. */
export const lanesOfSends: Migration = {
  name: '0039-lanes-of-sends',
  statements: [
    `create table send_lanes (
      caip2 text not null, sender text not null, next_nonce integer not null, primary key (caip2, sender)
    ) strict, without rowid`,
    `create table foreign_transactions (
      caip2 text not null, sender text not null, nonce integer not null, hash text, block integer not null,
      receiver text not null, value text not null, data text not null, send_id text, is_other integer not null,
      primary key (caip2, sender, nonce)
    ) strict, without rowid`,
  ],
}
