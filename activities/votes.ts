import type { Wire } from '../src/protocol/index.ts'
import { toUnixMs } from './wire-time.ts'

/**
 * Approvals lapse 24 hours after the submission, or after the first vote of a later window
 * (docs/protocol/activities.md#the-approval-window).
 */
export const VOTE_WINDOW_MS = 24 * 60 * 60 * 1000

/** The votes of an activity, as they count now. */
export interface VoteState {
  /** Names of users whose approvals count, in the order in which they voted. */
  readonly approved: readonly string[]
  readonly rejectedBy: readonly string[]
  /** Whether the acting credential's user is among those who approved in the open window. */
  readonly mine: boolean
}

/**
 * Reads which approvals still count at `nowMs`. Submitting is the first approval and opens a window; if consensus is
 * not reached inside it, all its approvals lapse, and the first new approval opens the next window.
 */
export function readVotes(activity: Wire.Activity, publicKey: string, nowMs: number): VoteState {
  const votes = [...activity.votes].sort((a, b) => toUnixMs(a.createdAt) - toUnixMs(b.createdAt))
  const approvals = votes.filter(({ selection }) => selection === 'VOTE_SELECTION_APPROVED')
  let openedAt = toUnixMs(activity.createdAt)
  for (const { createdAt } of approvals) {
    const at = toUnixMs(createdAt)
    if (at >= openedAt + VOTE_WINDOW_MS) openedAt = at
  }
  // Nobody has voted since the last window closed: the next vote will open one.
  if (nowMs >= openedAt + VOTE_WINDOW_MS) openedAt += VOTE_WINDOW_MS
  const counting = approvals.filter(({ createdAt }) => toUnixMs(createdAt) >= openedAt)
  const me = votes.find((vote) => vote.publicKey.toLowerCase() === publicKey)?.userId
  const names = (list: typeof votes) => [...new Set(list.map((vote) => vote.user?.userName || vote.userId))]
  return {
    approved: names(counting),
    rejectedBy: names(votes.filter(({ selection }) => selection === 'VOTE_SELECTION_REJECTED')),
    mine: counting.some(({ userId, publicKey: key }) => userId === me || key.toLowerCase() === publicKey),
  }
}
