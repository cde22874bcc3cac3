/**
 * What votes and changes of a root quorum do, one after another, written from docs/protocol/activities.md#votes and without a
 * line of the service: an organization of root users alone, with no policies.
 */
import type { Model } from './linearizable.ts'

export interface Quorum {
  readonly threshold: number
  /** Sorted. */
  readonly members: readonly string[]
}

export type Asked =
  | { readonly kind: 'propose'; readonly by: string; readonly body: string; readonly becomes?: Quorum }
  | { readonly kind: 'approve' | 'reject'; readonly by: string; readonly of: string; readonly body: string }
  | { readonly kind: 'read'; readonly of: string }
  | { readonly kind: 'quorum' }

/** `refused` tells no more than that: neither the text nor the status of a refusal is the model's. */
export type Answered = 'refused' | Quorum | { readonly status: string; readonly votes: readonly string[] }

interface Activity {
  readonly status: 'CONSENSUS_NEEDED' | 'COMPLETED' | 'REJECTED'
  /** Who, in order; `-` before who rejected. */
  readonly votes: readonly string[]
  readonly becomes?: Quorum
}

interface State {
  readonly quorum: Quorum
  /** By the bytes that began them. */
  readonly activities: Readonly<Record<string, Activity>>
  /** Bytes of votes that count. */
  readonly bodies: readonly string[]
}

export function quorumModel(quorum: Quorum): Model<State, Asked, Answered> {
  return { initial: { quorum, activities: {}, bodies: [] }, apply }
}

function apply(state: State, asked: Asked): { readonly state: State; readonly answer: Answered } {
  const unchanged = (answer: Answered) => ({ state, answer })
  if (asked.kind === 'quorum') return unchanged(state.quorum)
  const id = asked.kind === 'propose' ? asked.body : asked.of
  const known = state.activities[id]
  if (asked.kind === 'read') return unchanged(known ? seen(known) : 'refused')
  if (asked.kind === 'propose') {
    if (known) return unchanged(seen(known))
    if (!isMember(state, asked.by)) return unchanged('refused')
    const { becomes } = asked
    return withVote(state, id, { status: 'CONSENSUS_NEEDED', votes: [], ...(becomes && { becomes }) }, asked)
  }
  if (!known) return unchanged('refused')
  if (state.bodies.includes(asked.body)) return unchanged(seen(known))
  const isOver = known.status !== 'CONSENSUS_NEEDED'
  if (asked.kind === 'approve') {
    if (isOver || known.votes.includes(asked.by)) return unchanged(seen(known))
    return isMember(state, asked.by) ? withVote(state, id, known, asked) : unchanged('refused')
  }
  if (isOver || !isMember(state, asked.by)) return unchanged('refused')
  const rejected: Activity = { ...known, status: 'REJECTED', votes: [...known.votes, `-${asked.by}`] }
  return { state: keep(state, id, rejected, asked.body), answer: seen(rejected) }
}

function withVote(state: State, id: string, activity: Activity, { by, body }: { by: string; body: string }) {
  const votes = [...activity.votes, by]
  const { members, threshold } = state.quorum
  const isDone = votes.filter((user) => members.includes(user)).length >= threshold
  const voted: Activity = { ...activity, votes, status: isDone ? 'COMPLETED' : 'CONSENSUS_NEEDED' }
  const next = keep(state, id, voted, body)
  const quorum = isDone && activity.becomes ? activity.becomes : next.quorum
  return { state: { ...next, quorum }, answer: seen(voted) }
}

function keep(state: State, id: string, activity: Activity, body: string): State {
  return { ...state, activities: { ...state.activities, [id]: activity }, bodies: [...state.bodies, body].sort() }
}

function seen({ status, votes }: Activity): Answered {
  return { status, votes }
}

function isMember({ quorum }: State, user: string): boolean {
  return quorum.members.includes(user)
}
