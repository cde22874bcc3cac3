/**
 * Activity statuses. Workflows run this file, so it imports nothing. A status that is not known yet is neither
 * terminal nor waiting: values are only ever appended (docs/protocol/requests.md#versions).
 */
export const ACTIVITY_STATUSES = [
  'ACTIVITY_STATUS_CREATED',
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_REJECTED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
] as const
export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number]

/** Whether nothing can change the activity any more: completed, failed or rejected (docs/protocol/activities.md#statuses). */
export function isTerminal(status: string): boolean {
  return (
    status === 'ACTIVITY_STATUS_COMPLETED' ||
    status === 'ACTIVITY_STATUS_FAILED' ||
    status === 'ACTIVITY_STATUS_REJECTED'
  )
}

/** Of what waits for people: for further approvals, or for further factors (docs/protocol/activities.md#statuses). */
export const WAITING_STATUSES = ['ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'] as const

/** Whether the activity waits for people. */
export function isWaiting(status: string): boolean {
  return (WAITING_STATUSES as readonly string[]).includes(status)
}
