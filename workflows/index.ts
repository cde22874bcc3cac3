/**
 * Workflows: durable decisions only. They see no clock but the workflow's, no network and no Node built-in; everything
 * else is asked of the Temporal activities. What is exported here is what a worker can run.
 */
export { apply } from './apply.ts'
export { applyInside } from './apply-inside.ts'
export type { ApplyInput, ApplyInsideInput, ReconcileInput } from './inputs.ts'
export { reconcile } from './reconcile.ts'
export { type RotateInput, rotate } from './rotate.ts'
export { type SendInput, send } from './send.ts'
export { type SendBatchInput, sendBatch } from './send-batch.ts'
