import { APPROVALS_NEED_STANDING_CREDENTIAL, type Ballot, countingVotes } from '../../authority/index.ts'
import type { CredentialFacts } from '../../policy/index.ts'
import { listUsers } from '../resources/users/store.ts'
import { type ActivityRecordRow, listStandingCredentials, type Transaction, type VoteRow } from '../store/index.ts'
import { isSameContact } from '../verification/index.ts'

/**
 * The approvals that count at this moment, in the order in which they were cast (docs/protocol/activities.md#votes): those
 * inside the window (`countingVotes`), that wait for no further factor, by a credential that still stands. Others stay in `votes` for audit.
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
  const latest = countingVotes(cast, { windowOpenedAtMs: activity.window_opened_at, nowMs: now })
  // One that waits for further factors of its user does not count (docs/protocol/mfa.md#votes).
  const counting = latest.filter(({ vote }) => vote.mfa_pending !== 1)
  const ids = counting.map(({ vote }) => vote.credential_id)
  const standing = await listStanding(tx, activity.organization_id, ids)
  return counting
    .filter(({ vote }) => !APPROVALS_NEED_STANDING_CREDENTIAL || standing.has(vote.credential_id))
    .map(({ userId, vote }) => ({ userId, credential: JSON.parse(vote.credential) as CredentialFacts }))
}

/** The credentials among these that stand, a contact as long as its user has it (`credentials/attested.ts`). */
export async function listStanding(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const standing = await listStandingCredentials(tx, organizationId, ids)
  const contacts = ids.filter((id) => id.includes(' ')).map((id) => ({ id, userId: id.slice(0, id.indexOf(' ')) }))
  const userIds = contacts.map(({ userId }) => userId)
  for (const user of await listUsers(tx, organizationId, userIds)) {
    for (const { id, userId } of contacts) {
      const contact = id.slice(userId.length + 1)
      const isTheirs =
        isSameContact('OTP_TYPE_EMAIL', user.email, contact) ||
        isSameContact('OTP_TYPE_SMS', user.phone_number, contact)
      if (user.id === userId && isTheirs) standing.add(id)
    }
  }
  return standing
}

/**
 * The approvals that another user's vote is judged with: while the submitter's own factors are missing, the submitter is counted
 * among them. INVARIANT: nothing is carried out by such a judgement.
 */
export function withHeldSubmitter(
  { status }: Pick<ActivityRecordRow, 'status'>,
  votes: readonly VoteRow[],
  ballots: readonly Ballot[],
): readonly Ballot[] {
  if (status !== 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED') return ballots
  const { user_id: userId, credential } = votes[0]!
  const submitter = { userId, credential: JSON.parse(credential) as CredentialFacts }
  return ballots.some((ballot) => ballot.userId === userId) ? ballots : [submitter, ...ballots]
}
