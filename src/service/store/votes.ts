import { prepare, type Rows, whenRead } from './prepared.ts'
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
export function insertVote(tx: Transaction, vote: VoteRow): Rows<VoteRow> {
  return whenRead(insert(tx, vote), () => vote)
}

/** Reads the votes of several activities, each activity's in the order in which they were cast. */
export function listVotes(tx: Transaction, organizationId: string, activityIds: readonly string[]): Rows<VoteRow[]> {
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

/** Records what the policies made of a vote that was denied. */
export async function insertPolicyEvaluation(
  tx: Transaction,
  evaluation: Omit<PolicyEvaluationRow, 'position'>,
): Promise<void> {
  await insertEvaluation(tx, evaluation)
}

/** What policies made of a vote, with which policies these were. */
export type KeptEvaluation = Omit<PolicyEvaluationRow, 'position' | 'behind_vote'> & {
  readonly policy_ids: string | null
}

/** Bytes of one policy's outcome in an answer, with the policy's id; bytes of the JSON that encloses the outcomes of one vote. */
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
  const most = Math.ceil(mostBytes / EVALUATION_BYTES)
  const ofVotes = await tx
    .selectFrom('votes')
    .select(['evaluation_id', 'id as vote_id', 'policy_version', 'outcomes', 'created_at', 'position as behind_vote'])
    .where('organization_id', '=', organizationId)
    .where('activity_id', '=', activityId)
    .where('evaluation_id', 'is not', null)
    .orderBy('votes.position', 'desc')
    .limit(most)
    .execute()
  const ofOthers = await tx
    .selectFrom('policy_evaluations')
    .select(['id', 'vote_id', 'policy_version', 'outcomes', 'created_at', 'behind_vote'])
    .where('organization_id', '=', organizationId)
    .where('activity_id', '=', activityId)
    .orderBy('policy_evaluations.position', 'desc')
    .limit(most)
    .execute()
  const inVotes = ofVotes.map(({ evaluation_id: id, outcomes, ...row }) => ({ id: id!, outcomes: outcomes!, ...row }))
  // The newest first. What is behind a vote came after it, and what is behind none before all votes that have one of their own.
  const newestFirst = [...ofOthers, ...inVotes].sort((a, b) => (b.behind_vote ?? 0) - (a.behind_vote ?? 0))
  let bytes = 0
  const end = newestFirst.findIndex(({ outcomes }, at) => {
    bytes += EVALUATION_BYTES + outcomes.length * OUTCOME_BYTES
    return at > 0 && bytes > mostBytes
  })
  const fitting = (end < 0 ? newestFirst : newestFirst.slice(0, end)).reverse()
  const sets = await listPolicySets(tx, organizationId, [...new Set(fitting.map((row) => row.policy_version))])
  return fitting.map(({ behind_vote: _, ...row }) => ({
    ...row,
    organization_id: organizationId,
    activity_id: activityId,
    policy_ids: sets.get(row.policy_version) ?? null,
  }))
}

/** Reads the ids of the policies of these versions of them, as JSON. */
async function listPolicySets(
  tx: Transaction,
  organizationId: string,
  versions: readonly (string | null)[],
): Promise<Map<string | null, string>> {
  const known = versions.filter((version) => version !== null)
  if (known.length === 0) return new Map()
  const rows = await tx
    .selectFrom('policy_sets')
    .select(['version', 'policy_ids'])
    .where('organization_id', '=', organizationId)
    .where('version', 'in', known)
    .execute()
  return new Map(rows.map((row) => [row.version, row.policy_ids]))
}
