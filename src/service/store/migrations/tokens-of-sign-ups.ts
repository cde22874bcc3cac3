import type { Migration } from './migration.ts'

/** Which organization a verification token signed up: there it logs its user in once more. */
export const tokensOfSignUps: Migration = {
  name: '0026-tokens-of-sign-ups',
  statements: ['alter table used_verification_tokens add column signed_up_id text'],
}
