import type { Migration } from './migration.ts'

/** Signed forms of sends are looked up by their hash: no two sends may have the same. */
export const attemptsByHash: Migration = {
  name: '0010-attempts-by-hash',
  statements: ['create index send_attempts_hash on send_attempts (hash)'],
}
