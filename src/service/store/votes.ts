import type { Selectable } from 'kysely'
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
const insertEvaluation = prepare((tx, row: Omit<PolicyEvaluationRow, 'position'>) =>
  tx.insertInto('policy_evaluations').values(row),
)

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
export async function insertPolicyEvaluation(
  tx: Transaction,
  evaluation: Omit<PolicyEvaluationRow, 'position'>,
): Promise<void> {
  await insertEvaluation(tx, evaluation)
}

/** Reads what the policies made of each vote of an activity, denied ones among them, in the order in which they came. */
export async function listPolicyEvaluations(
  tx: Transaction,
  organizationId: string,
  activityId: string,
): Promise<Selectable<PolicyEvaluationRow>[]> {
  return tx
    .selectFrom('policy_evaluations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('activity_id', '=', activityId)
    .orderBy('position')
    .execute()
}
