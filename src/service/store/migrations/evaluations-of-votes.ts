import type { Migration } from './migration.ts'

/**
 * What policies made of a vote stands with the vote: a row and an index less for each submit. What they made of votes that were
 * denied, which are none, still has rows of its own, and says behind which vote it came. What was written until now stays.
 */
export const evaluationsOfVotes: Migration = {
  name: '0032-evaluations-of-votes',
  statements: [
    'alter table votes add column evaluation_id text',
    'alter table votes add column policy_version text',
    'alter table votes add column outcomes text',
    'alter table policy_evaluations add column behind_vote integer',
  ],
}
