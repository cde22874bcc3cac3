import { prepare } from './prepared.ts'
import type { PolicyEvaluationRow, VoteRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

const lastPosition = prepare((tx, of: { activityId: string }) =>
  tx
    .selectFrom('votes')
    .select(({ fn }) => fn.max('position').as('position'))
    .where('activity_id', '=', of.activityId),
)
const insert = prepare((tx, row: VoteRow) => tx.insertInto('votes').values(row))
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
  const [last] = await lastPosition(tx, { activityId: vote.activity_id })
  const row = { ...vote, position: (last?.position ?? 0) + 1 }
  await insert(tx, row)
  return row
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
