import type { Selectable } from 'kysely'
import { prepare } from './prepared.ts'
import type { PolicyEvaluationRow, PolicySetRow, VoteRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

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
const insertEvaluation = prepare((tx, row: Omit<PolicyEvaluationRow, 'position'>) =>
  tx.insertInto('policy_evaluations').values(row),
)

/**
 * Records a vote. INVARIANT: the organization's row is locked since before the activity's votes were read, so that nobody else
 * takes the position behind the last of them.
 */
export async function insertVote(tx: Transaction, vote: VoteRow): Promise<VoteRow> {
  await insert(tx, vote)
  return vote
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

/** Keeps which policies a version of them has, once. */
export async function insertPolicySet(tx: Transaction, set: PolicySetRow): Promise<void> {
  await tx
    .insertInto('policy_sets')
    .values(set)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Records what the policies made of a vote. */
export async function insertPolicyEvaluation(
  tx: Transaction,
  evaluation: Omit<PolicyEvaluationRow, 'position'>,
): Promise<void> {
  await insertEvaluation(tx, evaluation)
}

/** What policies made of a vote, with which policies these were. */
export type KeptEvaluation = Selectable<PolicyEvaluationRow> & { readonly policy_ids: string | null }

/** Bytes of an outcome in an answer, with the policy's id, and of what stands around those of a vote. */
const OUTCOME_BYTES = 96
const EVALUATION_BYTES = 320

/**
 * Reads what the policies made of the votes of an activity, denied ones among them, in the order in which they came: of the last
 * votes, as many as an answer of so many bytes has room for, and at least one.
 */
export async function listPolicyEvaluations(
  tx: Transaction,
  organizationId: string,
  activityId: string,
  { mostBytes }: { readonly mostBytes: number },
): Promise<KeptEvaluation[]> {
  const ofActivity = tx
    .selectFrom('policy_evaluations')
    .where('policy_evaluations.organization_id', '=', organizationId)
    .where('policy_evaluations.activity_id', '=', activityId)
  const most = Math.ceil(mostBytes / EVALUATION_BYTES)
  const sizes = await ofActivity
    .select(['position', (eb) => eb.fn<number>('length', ['outcomes']).as('policies')])
    .orderBy('position', 'desc')
    .limit(most)
    .execute()
  let bytes = 0
  const fitting = sizes.filter(({ policies }, at) => {
    bytes += EVALUATION_BYTES + policies * OUTCOME_BYTES
    return at === 0 || bytes <= mostBytes
  })
  const first = fitting.at(-1)
  if (!first) return []
  return ofActivity
    .leftJoin('policy_sets', (join) =>
      join
        .onRef('policy_sets.organization_id', '=', 'policy_evaluations.organization_id')
        .onRef('policy_sets.version', '=', 'policy_evaluations.policy_version'),
    )
    .selectAll('policy_evaluations')
    .select('policy_sets.policy_ids')
    .where('policy_evaluations.position', '>=', first.position)
    .orderBy('policy_evaluations.position')
    .execute()
}
