import type { PolicyEvaluationRow, VoteRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** Records a vote as the activity's latest. */
export async function insertVote(tx: Transaction, vote: Omit<VoteRow, 'position'>): Promise<VoteRow> {
  const last = await tx
    .selectFrom('votes')
    .select((of) => of.fn.max('position').as('position'))
    .where('activity_id', '=', vote.activity_id)
    .executeTakeFirst()
  const row = { ...vote, position: (last?.position ?? 0) + 1 }
  await tx.insertInto('votes').values(row).execute()
  return row
}

/** Reads the votes of several activities, each activity's in the order in which they were cast. */
export async function listVotes(
  tx: Transaction,
  organizationId: string,
  activityIds: readonly string[],
): Promise<VoteRow[]> {
  if (activityIds.length === 0) return []
  return tx
    .selectFrom('votes')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('activity_id', 'in', activityIds)
    .orderBy('activity_id')
    .orderBy('position')
    .execute()
}

/** Records what the policies made of a vote. */
export async function insertPolicyEvaluation(tx: Transaction, evaluation: PolicyEvaluationRow): Promise<void> {
  await tx.insertInto('policy_evaluations').values(evaluation).execute()
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
