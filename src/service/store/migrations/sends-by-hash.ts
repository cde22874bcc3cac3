import type { Migration } from './migration.ts'

/** Sends are found by the hash of their transaction. */
export const sendsByHash: Migration = {
  name: '0012-sends-by-hash',
  statements: ['create index sends_hash on sends (organization_id, hash)'],
}
