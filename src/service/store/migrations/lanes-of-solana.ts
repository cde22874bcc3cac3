import type { Migration } from './migration.ts'

/** For which restore an address of Solana is known up to the chain, and its transactions that no send here was signed as. */
export const lanesOfSolana: Migration = {
  name: '0041-lanes-of-solana',
  statements: [
    `create table solana_lanes (
      caip2 text not null, sender text not null, restored_at text not null, primary key (caip2, sender)
    ) strict, without rowid`,
    `create table foreign_solana_transactions (
      caip2 text not null, sender text not null, signature text not null, slot integer not null, bytes text not null,
      send_id text, is_other integer not null, primary key (caip2, sender, signature)
    ) strict, without rowid`,
  ],
}
