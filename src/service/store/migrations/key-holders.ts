import type { Migration } from './migration.ts'

/** Which master keys each process holds, which a rotation of the master key goes by. */
export const keyHolders: Migration = {
  name: '0044-key-holders',
  statements: [
    `create table key_holders (
      holder text primary key, kind text not null, place text not null, opens text not null, seals text,
      until integer not null
    ) strict, without rowid`,
  ],
}
