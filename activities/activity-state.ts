import { type Batch, collectIds } from '../src/plan/index.ts'
import type { Wire } from '../src/protocol/index.ts'
import { applyCodes } from './codes.ts'
import type { ActivityState, Failure } from './model.ts'
import { readVotes } from './vote-state.ts'
import { toUnixMs } from './wire-time.ts'

/** What each status means to the walk over batches. One that is not known is polled again (docs/protocol/requests.md#versions). */
const states: Readonly<Record<string, ActivityState['state']>> = {
  ACTIVITY_STATUS_CREATED: 'submitting',
  ACTIVITY_STATUS_PENDING: 'submitting',
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'waiting',
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: 'waiting',
  ACTIVITY_STATUS_COMPLETED: 'completed',
  ACTIVITY_STATUS_FAILED: 'failed',
  ACTIVITY_STATUS_REJECTED: 'rejected',
}

/** Who looks at an activity, and when. */
export interface ActivityReader {
  readonly publicKey: string
  /** The user whose vote is needed, also where a worker with the key of another one looks. @default whose key it is */
  readonly userId?: string | undefined
  readonly nowMs: number
}

/**
 * Reduces an activity to what a walk needs: a whole record, with its voters and their keys, does not belong in a
 * history. Throws `plan/no-result` when it completed without an id that the plan says it brings.
 */
export function reduceActivity(activity: Wire.Activity, batch: Batch, reader: ActivityReader): ActivityState {
  const described = describeActivity(activity, reader)
  return {
    ...described,
    ...(described.state === 'completed' ? { produced: collectIds(batch, activity.result) } : {}),
  }
}

/** The state without the ids that the activity made. */
export function describeActivity(activity: Wire.Activity, { publicKey, userId, nowMs }: ActivityReader): ActivityState {
  const state = states[activity.status] ?? 'submitting'
  const votes = readVotes(activity, publicKey.toLowerCase(), nowMs, userId)
  const error = whyNot(activity, state, votes.rejectedBy)
  return {
    activityId: activity.id,
    fingerprint: activity.fingerprint,
    state,
    since: new Date(toUnixMs(activity.createdAt)).toISOString(),
    approved: votes.approved,
    ...(state === 'waiting' && votes.lapsed.length > 0 ? { lapsed: votes.lapsed } : {}),
    needsVote: activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' && !votes.mine,
    ...(error ? { error } : {}),
  }
}

/** What is done about a failure that names nothing to correct. */
const NO_REASON =
  'look at it with `quorate activities`; plan again, which shows what is left to do. If it fails so again, give its id to who runs the API'

function whyNot(activity: Wire.Activity, state: string, rejectedBy: readonly string[]): Failure | undefined {
  if (state === 'failed') {
    const { message = '' } = activity.failure ?? {}
    return {
      code: 'apply/activity-failed',
      message: `the API could not carry it out: ${message === '' ? 'it does not say why' : message}`,
      next: message === '' ? NO_REASON : applyCodes['apply/activity-failed'].solve,
    }
  }
  if (state === 'rejected') {
    const by = rejectedBy.join(' and ') || 'a voter'
    return { code: 'apply/rejected', message: `rejected by ${by}`, next: applyCodes['apply/rejected'].solve }
  }
  return undefined
}
