import { votesOn } from '../src/authority/index.ts'
import type { Wire } from '../src/protocol/index.ts'

/** The votes of an activity, as they count now. */
export interface VoteState {
  /** Names of users whose approvals count, in the order in which they voted. */
  readonly approved: readonly string[]
  /** Ids of the same users: names may be alike. */
  readonly approvedIds: readonly string[]
  /** Names of users whose approvals count no more. */
  readonly lapsed: readonly string[]
  readonly rejectedBy: readonly string[]
  /** Whether the acting user is among those who approved in the open window. */
  readonly mine: boolean
}

/**
 * Reads which approvals still count at `nowMs`, and whether one of them is the acting user's.
 * @param userId the acting user. @default the user who has voted with the key
 */
export function readVotes(activity: Wire.Activity, publicKey: string, nowMs: number, userId?: string): VoteState {
  const { approvals, lapsed, rejections } = votesOn(activity, nowMs)
  const isOwnKey = ({ publicKey: key }: Wire.Vote) => key.toLowerCase() === publicKey
  const me = userId ?? activity.votes.find(isOwnKey)?.userId
  const names = (list: readonly Wire.Vote[]) => [...new Set(list.map((vote) => vote.user?.userName || vote.userId))]
  return {
    approved: names(approvals),
    approvedIds: [...new Set(approvals.map(({ userId }) => userId))],
    lapsed: names(lapsed),
    rejectedBy: names(rejections),
    mine: approvals.some((vote) => vote.userId === me || (userId === undefined && isOwnKey(vote))),
  }
}
