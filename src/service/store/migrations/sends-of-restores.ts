import type { Migration } from './migration.ts'

/** Sends that were open in a snapshot which the store was put back from, until it is known what became of them. */
export const sendsOfRestores: Migration = {
  name: '0045-sends-of-restores',
  statements: ['alter table sends add column held_by_restore integer not null default 0'],
}
