/** Names at Temporal. A workflow's id is its lock: what has one id runs once at a time. */

/** One queue an organization: a worker holds the key of one, and must not be given another's work. */
export const taskQueueOf = (organizationId: string) => `quorate/${organizationId}`

/** One apply for an organization at a time. */
export const applyId = (organizationId: string) => `apply/${organizationId}`

/** One send a reference. */
export const sendWorkflowId = (organizationId: string, sendId: string) => `send/${organizationId}/${sendId}`

/** The same rows are one batch. */
export const batchWorkflowId = (organizationId: string, batchId: string) => `send-batch/${organizationId}/${batchId}`
