/** Names at Temporal. */
export { applyId, applyInsideId, sendBatchWorkflowId, sendWorkflowId } from '../../workflows/names.ts'

/** One queue an organization: a worker holds the key of one, and must not be given another's work. */
export const taskQueueOf = (organizationId: string) => `quorate/${organizationId}`
