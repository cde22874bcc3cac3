import { prepare } from './prepared.ts'
import type { PolicyEvaluationRow, VoteRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

const insert = prepare((tx, row: Omit<VoteRow, 'position'>) =>
  tx
    .insertInto('votes')
    .values(({ fn, selectFrom }) => ({
      ...row,
      position: selectFrom('votes')
        .select(({ eb }) => eb(fn.coalesce(fn.max<number>('position'), eb.lit(0)), '+', 1).as('next'))
        .where('activity_id', '=', row.activity_id),
    }))
    .returning('position'),
)
const ofActivities = prepare((tx, of: { organizationId: string; activityIds: readonly string[] }) =>
  tx
    .selectFrom('votes')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('activity_id', 'in', of.activityIds)
    .orderBy('activity_id')
    .orderBy('position'),
)
const insertEvaluation = prepare((tx, row: PolicyEvaluationRow) => tx.insertInto('policy_evaluations').values(row))

/** Records a vote as the activity's latest. */
export async function insertVote(tx: Transaction, vote: Omit<VoteRow, 'position'>): Promise<VoteRow> {
  const [made] = await insert(tx, vote)
  return { ...vote, position: made!.position }
}

/** Reads the votes of several activities, each activity's in the order in which they were cast. */
export async function listVotes(
  tx: Transaction,
  organizationId: string,
  activityIds: readonly string[],
): Promise<VoteRow[]> {
  if (activityIds.length === 0) return []
  return ofActivities(tx, { organizationId, activityIds })
}

/** Records what the policies made of a vote. */
export async function insertPolicyEvaluation(tx: Transaction, evaluation: PolicyEvaluationRow): Promise<void> {
  await insertEvaluation(tx, evaluation)
}

/** Reads what the policies made of each vote of an activity, in the order of the votes. */
export async function listPolicyEvaluations(
  tx: Transaction,
  organizationId: string,
  activityId: string,
): Promise<PolicyEvaluationRow[]> {
  return tx
    .selectFrom('policy_evaluations')
    .innerJoin('votes', 'votes.id', 'policy_evaluations.vote_id')
    .selectAll('policy_evaluations')
    .where('policy_evaluations.organization_id', '=', organizationId)
    .where('policy_evaluations.activity_id', '=', activityId)
    .orderBy('votes.position')
    .execute()
}
