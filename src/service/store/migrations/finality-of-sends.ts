import type { Migration } from './migration.ts'

/** Sends that are in a block which the chain may still take back. Those of before were never looked at again. */
export const finalityOfSends: Migration = {
  name: '0036-finality-of-sends',
  statements: [
    'alter table sends add column unsettled_block integer',
    'create index sends_unsettled on sends (caip2, sender) where unsettled_block is not null',
  ],
}
