import { satisfiedMethods } from '../../../authority/index.ts'
import { apiError, isTerminal, type Wire } from '../../../protocol/index.ts'
import { factorOfVote, isPending, listStanding } from '../../engine/index.ts'
import { findActivityById, listVotes, type VoteRow } from '../../store/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { checkUser } from '../users/queries.ts'
import { listMfaPolicies, mfaPolicyTable, toMfaPolicy } from './store.ts'
import { toWireMfaPolicy, toWireSteps } from './wire.ts'

const getMfaPolicies: QueryOf<'get_mfa_policies'> = async (context, { userId }) => {
  await checkUser(context, userId)
  const policies = await listMfaPolicies(context.tx, context.organizationId, [userId])
  return { mfaPolicies: policies.map(toWireMfaPolicy) }
}

const getMfaPolicy: QueryOf<'get_mfa_policy'> = async ({ tx, organizationId }, { userId, mfaPolicyId }) => {
  const policy = await mfaPolicyTable.find(tx, organizationId, mfaPolicyId)
  if (policy?.user_id !== userId) throw apiError('notFound', 'MFA policy', mfaPolicyId)
  return { mfaPolicy: toWireMfaPolicy(policy) }
}

/** Of each user who has voted under a policy, the policy of the latest vote; one that has been deleted is not told. */
const getMfaStatus: QueryOf<'get_mfa_status'> = async ({ tx, organizationId }, { activityId, userId }) => {
  const activity = await findActivityById(tx, organizationId, activityId)
  if (!activity) throw apiError('notFound', 'activity', activityId)
  const votes = await listVotes(tx, organizationId, [activityId])
  const judged = votes.filter((vote) => vote.mfa_policy_id != null && (!userId || vote.user_id === userId))
  const mfaStatuses: Wire.MfaStatus[] = []
  for (const [voter, own] of Map.groupBy(judged, (vote) => vote.user_id)) {
    const policies = await listMfaPolicies(tx, organizationId, [voter])
    const row = policies.find(({ id }) => id === own.at(-1)!.mfa_policy_id)
    if (!row) continue
    const ids = own.map(({ credential_id: id }) => id)
    const standing = await listStanding(tx, organizationId, ids)
    const given = own.filter((vote) => standing.has(vote.credential_id) || isTerminal(activity.status))
    mfaStatuses.push(toStatus(row, { given, last: own.at(-1)!, windowOpenedAt: activity.window_opened_at }))
  }
  return { mfaStatuses }
}

function toStatus(
  row: Parameters<typeof toMfaPolicy>[0],
  { given, last, windowOpenedAt }: { given: readonly VoteRow[]; last: VoteRow; windowOpenedAt: number },
): Wire.MfaStatus {
  const factors = given.filter(({ created_at: castAt }) => castAt >= windowOpenedAt).map(factorOfVote)
  return {
    mfaPolicyId: row.id,
    userId: row.user_id,
    satisfied: !isPending(last),
    satisfiedMethods: satisfiedMethods(toMfaPolicy(row), factors) as Wire.AuthenticationMethod[],
    requiredMethods: toWireSteps(row.steps),
  }
}

export const mfaPolicyQueries = {
  get_mfa_policies: getMfaPolicies,
  get_mfa_policy: getMfaPolicy,
  get_mfa_status: getMfaStatus,
} satisfies QueryRows
