import type { Migration } from './migration.ts'

/** Sends on Solana: until when a signed form may be included stands beside it, and no two sends have the same form. */
export const solanaSends: Migration = {
  name: '0013-solana-sends',
  statements: [
    'alter table send_attempts add column terms text',
    'create index send_attempts_hash on send_attempts (hash)',
  ],
}
