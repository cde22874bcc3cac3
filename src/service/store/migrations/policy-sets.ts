import type { Migration } from './migration.ts'

/** What a vote's evaluations say of policies, in JSON until now: their ids, and a letter for the outcome of each. */
const IDS = "(select json_group_array(value ->> 'policyId' order by key) from json_each(evaluations))"
const LETTERS = `(select group_concat(case value ->> 'outcome'
    when 'OUTCOME_ALLOW' then 'A' when 'OUTCOME_DENY_EXPLICIT' then 'D' when 'OUTCOME_DENY_IMPLICIT' then 'I'
    when 'OUTCOME_REQUIRES_CONSENSUS' then 'C' when 'OUTCOME_TIME_INACTIVE' then 'T' when 'OUTCOME_REJECTED' then 'R'
    when 'OUTCOME_REQUIRES_AUTHENTICATORS' then 'U' else 'E' end, '' order by key) from json_each(evaluations))`
const SHARED = 'id, organization_id, activity_id, vote_id'

/** The ids of the policies are kept once for each version of them, not with every vote. */
export const policySets: Migration = {
  name: '0011-policy-sets',
  statements: [
    `create table policy_sets (
      organization_id text not null references organizations (id), version text not null, policy_ids text not null,
      primary key (organization_id, version)
    ) strict, without rowid`,
    `insert into policy_sets (organization_id, version, policy_ids)
      select organization_id, lower(hex(randomblob(16))), policy_ids from (
        select distinct organization_id, ${IDS} as policy_ids from policy_evaluations where evaluations <> '[]'
      )`,
    'alter table policy_evaluations rename to policy_evaluations_in_json',
    `create table policy_evaluations (
      position integer primary key, id text not null, organization_id text not null references organizations (id),
      activity_id text not null references activities (id), vote_id text not null, policy_version text,
      outcomes text not null, created_at integer not null
    ) strict`,
    `insert into policy_evaluations (${SHARED}, policy_version, outcomes, created_at)
      select ${SHARED}, (
        select version from policy_sets
        where policy_sets.organization_id = policy_evaluations_in_json.organization_id and policy_ids = ${IDS}
      ), coalesce(${LETTERS}, ''), created_at from policy_evaluations_in_json order by position`,
    'drop table policy_evaluations_in_json',
    'create index policy_evaluations_activity on policy_evaluations (activity_id)',
  ],
}
