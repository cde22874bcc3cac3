/** The ids of workflows. An id is a lock: Temporal runs one workflow of an id at a time. */

/** One apply for an organization at a time. */
export const applyId = (organizationId: string) => `apply/${organizationId}`

/** One for each run of an apply that changes sub-organizations. @param name the run's name in the plan store */
export const applyInsideId = (organizationId: string, name: string) => `apply-inside/${organizationId}/${name}`

/** One send for each reference. */
export const sendWorkflowId = (organizationId: string, sendId: string) => `send/${organizationId}/${sendId}`

/** One batch for the same rows. */
export const sendBatchWorkflowId = (organizationId: string, batchId: string) =>
  `send-batch/${organizationId}/${batchId}`

/** One look at an organization at a time; Temporal's Schedule adds the time of each to it. */
export const reconcileId = (organizationId: string) => `reconcile/${organizationId}`

/** One rotation of a user at a time: two at once would each count the other's new key. */
export const rotationWorkflowId = (organizationId: string, userId: string) => `rotate/${organizationId}/${userId}`

/**
 * The search attributes of workflows. Temporal can read them, so they hold ids, digests and words of this program, and no name that
 * somebody has chosen.
 * `waitingOn`: ids of activities.
 */
export const SEARCH_ATTRIBUTES = {
  organization: { name: 'QuorateOrganization', type: 'KEYWORD' },
  plan: { name: 'QuoratePlan', type: 'KEYWORD' },
  commit: { name: 'QuorateCommit', type: 'KEYWORD' },
  state: { name: 'QuorateState', type: 'KEYWORD' },
  waitingOn: { name: 'QuorateWaitingOn', type: 'KEYWORD_LIST' },
} as const
