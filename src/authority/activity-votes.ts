import { APPROVAL_WINDOW_MS, fromTimestamp, isTerminal, type Wire } from '../protocol/index.ts'
import { APPROVALS_NEED_STANDING_CREDENTIAL, countingVotes, windowOf } from './votes.ts'

/** The votes on an activity as the API tells them, sorted by what they are worth now; each list in the order of casting. */
export interface ActivityVotes {
  /** Approvals that count. */
  readonly approvals: readonly Wire.Vote[]
  /** Approvals that do not count yet, each user's latest: their users have still to prove themselves by other factors. */
  readonly held: readonly Wire.Vote[]
  /** Approvals that do not count any more: their window is over, or their credential is gone. */
  readonly lapsed: readonly Wire.Vote[]
  readonly rejections: readonly Wire.Vote[]
  /** When the window of those that count, or of the last that did, is over. */
  readonly lapseAtMs: number
}

/**
 * Sorts the votes on an activity at a moment; on one that has ended, as they were when it did.
 * @param mfa what `get_mfa_status` tells of the activity. @default no vote waits for a factor
 */
export function votesOn(
  { status, createdAt, updatedAt, votes }: Wire.Activity,
  nowMs: number,
  mfa: readonly Wire.MfaStatus[] = [],
): ActivityVotes {
  const ended = isTerminal(status)
  const atMs = ended ? fromTimestamp(updatedAt) : nowMs
  const cast = votes
    .map((vote) => ({
      userId: vote.userId,
      selection: vote.selection as string,
      castAtMs: fromTimestamp(vote.createdAt),
      vote,
    }))
    .sort((a, b) => a.castAtMs - b.castAtMs)
  const windowOpenedAtMs = windowOf(fromTimestamp(createdAt), cast)
  const waiting = new Set(mfa.filter(({ satisfied }) => !satisfied).map(({ userId }) => userId))
  const standing = new Set(
    countingVotes(cast, { windowOpenedAtMs, nowMs: atMs })
      .map(({ vote }) => vote)
      .filter((vote) => ended || !APPROVALS_NEED_STANDING_CREDENTIAL || stands(vote)),
  )
  const of = (selection: string) => cast.filter((one) => one.selection === selection).map(({ vote }) => vote)
  const approved = of('VOTE_SELECTION_APPROVED')
  // A user who approved again once the window was over is told of once.
  const again = new Set([...standing].map(({ userId }) => userId))
  return {
    approvals: approved.filter((vote) => standing.has(vote) && !waiting.has(vote.userId)),
    held: approved.filter((vote) => standing.has(vote) && waiting.has(vote.userId)),
    lapsed: approved.filter((vote) => !standing.has(vote) && !again.has(vote.userId)),
    rejections: of('VOTE_SELECTION_REJECTED'),
    lapseAtMs: windowOpenedAtMs + APPROVAL_WINDOW_MS,
  }
}

/** Whether the credential of a vote is still among its user's; what does not tell of credentials does not say that it is gone. */
function stands({ publicKey, user }: Wire.Vote): boolean {
  const { apiKeys, authenticators } = (user ?? {}) as Partial<Wire.User>
  if (!apiKeys || !authenticators) return true
  return [...apiKeys, ...authenticators].some(
    ({ credential }) => credential.publicKey.toLowerCase() === publicKey.toLowerCase(),
  )
}
