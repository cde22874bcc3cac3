import { APPROVALS_NEED_STANDING_CREDENTIAL, type Ballot, countingVotes } from '../../authority/index.ts'
import type { CredentialFacts } from '../../policy/index.ts'
import { type ActivityRecordRow, listStandingCredentials, type Transaction, type VoteRow } from '../store/index.ts'

/**
 * The approvals that count at this moment, in the order in which they were cast (docs/protocol/activities.md#votes): those
 * that authority counts, by a credential that still stands. Lapsed ones stay in `votes` for audit.
 */
export async function countBallots(
  tx: Transaction,
  activity: ActivityRecordRow,
  votes: readonly VoteRow[],
  now: number,
): Promise<Ballot[]> {
  const cast = votes.map((vote) => ({
    userId: vote.user_id,
    selection: vote.selection,
    castAtMs: vote.created_at,
    vote,
  }))
  const counting = countingVotes(cast, { windowOpenedAtMs: activity.window_opened_at, nowMs: now })
  const ids = counting.map(({ vote }) => vote.credential_id)
  const standing = await listStandingCredentials(tx, activity.organization_id, ids)
  return counting
    .filter(({ vote }) => !APPROVALS_NEED_STANDING_CREDENTIAL || standing.has(vote.credential_id))
    .map(({ userId, vote }) => ({ userId, credential: JSON.parse(vote.credential) as CredentialFacts }))
}
