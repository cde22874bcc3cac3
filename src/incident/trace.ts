import { readActivities, STATUSES } from '../../activities/index.ts'
import { type HeldPower, heldPowers } from '../analysis/index.ts'
import type { QueryClient } from '../client/index.ts'
import { idsMadeBy, textsIn } from '../live/index.ts'
import { fromTimestamp, WAITING_STATUSES, type Wire } from '../protocol/index.ts'
import { type Actual, type Address, textsOf } from '../resources/index.ts'
import type { isVotedBy } from './contain.ts'
import { credentialsMadeBy } from './made.ts'

/** A key, or a user with all keys. */
export interface Suspect {
  readonly publicKey?: string | undefined
  readonly userId?: string | undefined
}

/** An activity in which the key voted, or that registered or deleted it. */
export interface Act {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly fingerprint: string
  /** ISO 8601; when it was submitted. */
  readonly at: string
  readonly requestedBy: string
  /** `about`: it is about the key, which had no vote in it. */
  readonly part: 'requested' | 'approved' | 'rejected' | 'about'
}

/** Something that lives and that a completed activity of the key made or changed. */
export interface LeftBehind {
  readonly address: Address
  readonly did: 'made' | 'changed'
  readonly activityId: string
  readonly at: string
}

/** A key that a suspect made, and in how many activities it voted. */
export interface KeyMade {
  readonly publicKey: string
  readonly activities: number
}

export interface Traced {
  /** Oldest first. */
  readonly acts: readonly Act[]
  readonly left: readonly LeftBehind[]
  /** Of `acts`, what was sent, signed or exported with its approval, or is being: containment takes none of it back. */
  readonly beyond: readonly Act[]
  /** Keys that the suspect made and that voted since: each is a suspect of its own, whose activities are not among `acts`. */
  readonly keysMade: readonly KeyMade[]
  readonly reach: readonly HeldPower[]
}

/**
 * Reads what a key did in an organization, all of it or since a time (milliseconds since the epoch), what of it lives, and what its
 * user could do. It asks for every activity since then.
 */
export async function traceKey(
  client: QueryClient,
  {
    publicKey,
    userId,
    user,
    actual,
    since = Number.NEGATIVE_INFINITY,
    nowMs,
  }: {
    /** The key; or the id of the user, all of whose votes are told. */
    readonly publicKey?: string
    readonly userId?: string
    /** The name of the user who has or had it; without one nothing is said of what it could do. */
    readonly user?: string
    readonly actual: Actual
    readonly since?: number
    readonly nowMs: number
  },
): Promise<Traced> {
  const acts: Act[] = []
  const left = new Map<string, LeftBehind>()
  const made: string[] = []
  const votesOf = new Map<string, number>()
  const addresses = new Map(actual.resources.flatMap(({ id, address }) => (id === undefined ? [] : [[id, address]])))
  for await (const activity of readActivities(client, { types: [], statuses: STATUSES })) {
    const ms = fromTimestamp(activity.createdAt)
    if (ms < since) break
    for (const key of new Set(activity.votes.map((vote) => vote.publicKey.toLowerCase())))
      votesOf.set(key, (votesOf.get(key) ?? 0) + 1)
    const part = partOf(activity, { publicKey, userId })
    if (part === undefined) continue
    const { id, type, status, fingerprint, votes } = activity
    const at = new Date(ms).toISOString()
    acts.push({ id, type, status, fingerprint, at, requestedBy: votes[0]?.user.userName ?? '', part })
    if (status !== 'ACTIVITY_STATUS_COMPLETED' || part === 'about' || part === 'rejected') continue
    made.push(...credentialsMadeBy(activity).publicKeys)
    if (!CHANGES.test(type)) continue
    const created = new Set(idsCreatedBy(activity))
    for (const text of textsIn([activity.intent, activity.result])) {
      const address = addresses.get(text)
      if (address === undefined) continue
      const did = created.has(text) ? 'made' : 'changed'
      // The newest activity of a thing is the one that it is as it is by.
      const newest = left.get(address)
      if (!newest) left.set(address, { address, did, activityId: id, at })
      else if (did === 'made') left.set(address, { ...newest, did })
    }
  }
  acts.reverse()
  return {
    acts,
    left: [...left.values()].reverse(),
    beyond: acts.filter(isBeyond),
    keysMade: [...new Set(made)].flatMap((one) => {
      const activities = votesOf.get(one)
      // Of a user all votes are among the acts.
      return activities === undefined || publicKey === undefined ? [] : [{ publicKey: one, activities }]
    }),
    reach: user === undefined ? [] : heldPowers(actual, { user, nowMs }),
  }
}

const CHANGES = /^ACTIVITY_TYPE_(CREATE|UPDATE|IMPORT|SET|ENABLE|DISABLE|RECOVER)_/

const MAKES = /^ACTIVITY_TYPE_(CREATE|IMPORT)_/

/** The ids of what a completed activity has created or imported, whether it lives still or not. Throws `LiveError`. */
export function idsCreatedBy(activity: Wire.Activity): readonly string[] {
  const isDone = activity.status === 'ACTIVITY_STATUS_COMPLETED' && MAKES.test(activity.type)
  return isDone ? idsMadeBy(activity) : []
}

/** What leaves the organization: signatures, payments, keys. */
const LEAVES = /_(SIGN|SEND|EXPORT|EXECUTE_SWAP|CLAIM|EARN_DEPOSIT|EARN_WITHDRAW|SPARK_PREPARE_TRANSFER)(_|$)/
/** What may still be stopped, or has come to nothing. */
const STOPPABLE: readonly string[] = [...WAITING_STATUSES, 'ACTIVITY_STATUS_REJECTED', 'ACTIVITY_STATUS_FAILED']

function isBeyond({ type, status, part }: Act): boolean {
  return (part === 'requested' || part === 'approved') && LEAVES.test(type) && !STOPPABLE.includes(status)
}

/** Whether an activity is the suspect's: it asked for it or approved it. */
export function isDoneBy(activity: Wire.Activity, suspect: Suspect): boolean {
  const part = partOf(activity, suspect)
  return part === 'requested' || part === 'approved'
}

function partOf(
  activity: Parameters<typeof isVotedBy>[0] & { readonly intent: unknown },
  { publicKey, userId }: Suspect,
): Act['part'] | undefined {
  // Submitting is the first approval (docs/protocol/activities.md#votes).
  const votes = activity.votes.toSorted((a, b) => fromTimestamp(a.createdAt) - fromTimestamp(b.createdAt))
  const key = publicKey?.toLowerCase()
  const index = votes.findIndex((vote) =>
    key === undefined ? vote.userId === userId : vote.publicKey.toLowerCase() === key,
  )
  if (index === 0) return 'requested'
  if (index > 0) return votes[index]!.selection === 'VOTE_SELECTION_APPROVED' ? 'approved' : 'rejected'
  const about = key ?? userId
  if (about === undefined) return undefined
  return textsOf(activity.intent).some((text) => text.toLowerCase().includes(about)) ? 'about' : undefined
}
