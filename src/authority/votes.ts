/**
 * Which votes count (docs/protocol/activities.md#votes). Submitting is the first approval and opens a window of 24 hours;
 * votes of an older window have lapsed (docs/protocol/activities.md#the-approval-window).
 */
import type { CredentialFacts } from '../policy/index.ts'
import { APPROVAL_WINDOW_MS } from '../protocol/index.ts'

/** An approval that policies are asked with: its user, and the credential it was given by. Not every vote becomes one. */
export interface Ballot {
  readonly userId: string
  readonly credential: CredentialFacts
}

/** A vote as it was cast. */
export interface Vote {
  readonly userId: string
  readonly selection: string
  readonly castAtMs: number
}

/**
 * Unstated: whether an approval outlives the credential that gave it. It does not: revoking a stolen key takes its
 * pending approvals away as well. The vote itself stays for audit, and its user may approve again.
 */
export const APPROVALS_NEED_STANDING_CREDENTIAL = true

/** Whether the window in which approvals count is over; the next approval opens a new one. */
export function hasLapsed(windowOpenedAtMs: number, nowMs: number): boolean {
  return nowMs >= windowOpenedAtMs + APPROVAL_WINDOW_MS
}

/** When the window was opened in which an approval that is cast now stands. */
export function windowAfter(windowOpenedAtMs: number, approvedAtMs: number): number {
  return hasLapsed(windowOpenedAtMs, approvedAtMs) ? approvedAtMs : windowOpenedAtMs
}

/** When the present window was opened, told by all votes on an activity. */
export function windowOf(submittedAtMs: number, votes: readonly Vote[]): number {
  return votes
    .filter(isApproval)
    .map(({ castAtMs }) => castAtMs)
    .sort((a, b) => a - b)
    .reduce(windowAfter, submittedAtMs)
}

/**
 * The approvals inside the window, each user's latest vote, in the order in which they were cast. Two more do not count, and callers leave them
 * out by what they know: an approval by a credential that is gone, and one whose user has still to give further factors
 * (`countBallots` in the service, `votesOn` here).
 */
export function countingVotes<Cast extends Vote>(
  votes: readonly Cast[],
  { windowOpenedAtMs, nowMs }: { readonly windowOpenedAtMs: number; readonly nowMs: number },
): readonly Cast[] {
  if (hasLapsed(windowOpenedAtMs, nowMs)) return []
  const latest = new Map(votes.map((vote) => [vote.userId, vote]))
  return votes.filter(
    (vote) => vote === latest.get(vote.userId) && isApproval(vote) && vote.castAtMs >= windowOpenedAtMs,
  )
}

/** The approvals with this one among them: a user counts once, however many votes and credentials (U-approvers). */
export function withBallot(ballots: readonly Ballot[], ballot: Ballot): readonly Ballot[] {
  return ballots.some(({ userId }) => userId === ballot.userId) ? ballots : [...ballots, ballot]
}

function isApproval({ selection }: Vote): boolean {
  return selection === 'VOTE_SELECTION_APPROVED'
}
