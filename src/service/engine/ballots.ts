import type { CredentialFacts } from '../../policy/index.ts'
import { APPROVAL_WINDOW_MS } from '../../protocol/index.ts'
import { type ActivityRecordRow, listStandingCredentials, type Transaction, type VoteRow } from '../store/index.ts'
import { APPROVALS_NEED_STANDING_CREDENTIAL } from './readings.ts'

/** One approval that counts, as far as a decision needs it. */
export interface Ballot {
  readonly userId: string
  readonly credential: CredentialFacts
}

/** Whether the 24 hours in which approvals count are over; the next approval opens a new window. */
export function hasLapsed(activity: ActivityRecordRow, now: number): boolean {
  return now >= activity.window_opened_at + APPROVAL_WINDOW_MS
}

/**
 * The approvals that count at this moment, in the order in which they were cast (docs/protocol/activities.md#votes):
 * inside the window, the user's latest vote, and by a credential that still stands. Lapsed ones stay in `votes` for
 * audit.
 */
export async function countBallots(
  tx: Transaction,
  activity: ActivityRecordRow,
  votes: readonly VoteRow[],
  now: number,
): Promise<Ballot[]> {
  if (hasLapsed(activity, now)) return []
  const latest = new Map(votes.map((vote) => [vote.user_id, vote]))
  const current = votes.filter(
    (vote) =>
      vote === latest.get(vote.user_id) &&
      vote.selection === 'VOTE_SELECTION_APPROVED' &&
      vote.created_at >= activity.window_opened_at,
  )
  const ids = current.map((vote) => vote.credential_id)
  const standing = await listStandingCredentials(tx, activity.organization_id, ids)
  return current
    .filter((vote) => !APPROVALS_NEED_STANDING_CREDENTIAL || standing.has(vote.credential_id))
    .map((vote) => ({ userId: vote.user_id, credential: JSON.parse(vote.credential) as CredentialFacts }))
}
