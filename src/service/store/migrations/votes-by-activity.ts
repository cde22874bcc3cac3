import type { Migration } from './migration.ts'

const COLUMNS = `id, organization_id, activity_id, user_id, credential_id, credential, selection, message, public_key, signature,
  scheme, position, created_at`

/**
 * Votes are found by their activity and by nothing else. The index over their ids, which are random, was written to at a
 * place of its own by each: a page more to make durable for each submit.
 */
export const votesByActivity: Migration = {
  name: '0024-votes-by-activity',
  rebuilds: true,
  statements: [
    `create table votes_of_activities (
      id text not null, organization_id text not null references organizations (id),
      activity_id text not null references activities (id), user_id text not null, credential_id text not null,
      credential text not null, selection text not null, message text not null, public_key text not null,
      signature text not null, scheme text not null, position integer not null, created_at integer not null,
      primary key (activity_id, position)
    ) strict`,
    `insert into votes_of_activities (${COLUMNS}) select ${COLUMNS} from votes order by rowid`,
    'drop table votes',
    'alter table votes_of_activities rename to votes',
  ],
}
