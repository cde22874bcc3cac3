/** The ids of workflows. An id is a lock: what has one id runs once at a time. */

/** One apply for an organization at a time. */
export const applyId = (organizationId: string) => `apply/${organizationId}`

/** What one run of an apply begins inside the organization; `name` is the run's in the plan store. */
export const applyInsideId = (organizationId: string, name: string) => `apply-inside/${organizationId}/${name}`

/** One send a reference. */
export const sendWorkflowId = (organizationId: string, sendId: string) => `send/${organizationId}/${sendId}`

/** The same rows are one batch. */
export const sendBatchWorkflowId = (organizationId: string, batchId: string) =>
  `send-batch/${organizationId}/${batchId}`

/** One look at an organization at a time; Temporal's Schedule adds the time of each to it. */
export const reconcileId = (organizationId: string) => `reconcile/${organizationId}`

/** One rotation a user at a time: two could not both count the user's keys. */
export const rotationWorkflowId = (organizationId: string, userId: string) => `rotate/${organizationId}/${userId}`

/**
 * What lists of workflows are searched by at Temporal, which reads it: ids, digests and words of ours, no name that anybody has given.
 * `waitingOn`: ids of activities.
 */
export const SEARCH_ATTRIBUTES = {
  organization: { name: 'QuorateOrganization', type: 'KEYWORD' },
  plan: { name: 'QuoratePlan', type: 'KEYWORD' },
  commit: { name: 'QuorateCommit', type: 'KEYWORD' },
  state: { name: 'QuorateState', type: 'KEYWORD' },
  waitingOn: { name: 'QuorateWaitingOn', type: 'KEYWORD_LIST' },
} as const
