import type { Migration } from './migration.ts'

const COLUMNS = 'id, organization_id, activity_id, vote_id, evaluations, created_at'

/** What the policies made of a vote no longer needs the vote to stand: one that was denied is told of too, in its turn. */
export const deniedVotes: Migration = {
  name: '0007-denied-votes',
  statements: [
    'alter table policy_evaluations rename to policy_evaluations_of_votes',
    `create table policy_evaluations (
      position integer primary key, id text not null unique, organization_id text not null references organizations (id),
      activity_id text not null references activities (id), vote_id text not null, evaluations text not null,
      created_at integer not null
    ) strict`,
    `insert into policy_evaluations (${COLUMNS}) select ${COLUMNS} from policy_evaluations_of_votes order by rowid`,
    'drop table policy_evaluations_of_votes',
    'create index policy_evaluations_activity on policy_evaluations (activity_id)',
  ],
}
