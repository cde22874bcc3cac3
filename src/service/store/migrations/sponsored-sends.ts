import type { Migration } from './migration.ts'

/** Sends that another address pays for than the one that they are made for; what a form offers stands in its bytes alone. */
export const sponsoredSends: Migration = {
  name: '0009-sponsored-sends',
  statements: [
    'alter table sends add column account text',
    `create index sends_account on sends (caip2, account) where status in ('INITIALIZED', 'BROADCASTING')`,
    'alter table send_attempts drop column fees',
  ],
}
