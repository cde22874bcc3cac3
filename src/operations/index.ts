/**
 * Operations: plan an organization with what is inside it, apply a plan, follow what runs: functions that return values and print
 * nothing. Workflow ids, task queues and the clients of the API stand here once. The CLI and the worker are doors: they read
 * settings and screens, and call these.
 */

export {
  type ApplyHandle,
  type ApplyPlace,
  askProgress,
  assertWorker,
  cancelApply,
  findApply,
  followApply,
  nudgeApply,
  startApply,
} from './apply.ts'
export { exitOf } from './apply-end.ts'
export {
  applyInside,
  assertFreshInside,
  type InsideApply,
  type InsideOutcome,
  movedAnywhere,
  plansToApply,
  type RunningInside,
  runningInside,
} from './apply-inside.ts'
export { createClients, createSendClients, rateOf, reader, submitter } from './clients.ts'
export { followRun } from './follow.ts'
export { batchWorkflowId, sendWorkflowId, taskQueueOf } from './names.ts'
export type { Place, PlaceKey } from './place.ts'
export { planInside, wantedOf, withoutTombstones } from './plan-inside.ts'
export { withRejectionsAnywhere } from './rejections.ts'
export { APPLY, BATCH, foreignEndOf, SEND } from './run-end.ts'
export { isServiceError } from './temporal-errors.ts'
