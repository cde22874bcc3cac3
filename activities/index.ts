/**
 * Temporal activities: all the I/O that a workflow may ask for, built by `createActivities`. Each does one thing, may
 * run any number of times, and raises nothing but `ApplicationFailure` with our code as its type. Bodies are made from
 * what the workflow recorded and stored before they are sent. Relies on a plan store that all workers share.
 */

export { applyCodes } from './codes.ts'
export type { CompromisedKey } from './compromised-ledger.ts'
export { type Activities, createActivities } from './create.ts'
export type { ActivityDependencies, OnApply, PlanWatched, ReadCommit, RotationDependencies } from './dependencies.ts'
export { ApplyError } from './error.ts'
export { inTurns } from './in-turns.ts'
export { readAsPlanned } from './inside.ts'
export { findByIntent, isIntent, withRejections } from './intent.ts'
export { type MadeByRuns, readMade } from './made.ts'
export type { ApplyProgress, BatchProgress, Failure, InsideProgress, InsideStand, ShownBy } from './model.ts'
export type { NoticeSinkState } from './notice-model.ts'
export { readActivities, readOpenActivities, STATUSES } from './open-activities.ts'
export { createPlanStore, type KeptPlan, type PlanStore } from './plan-store.ts'
export { openPushes, type Push, type PushLedger, pushText } from './pushes.ts'
export { createRotationKeys } from './rotation-keys.ts'
export {
  isRotationOver,
  type RotationOrder,
  type RotationPart,
  type RotationProgress,
  type RotationSink,
  type RunningRotation,
  SECRET_STORES,
} from './rotation-model.ts'
export { readReplaced, sinkInWords } from './rotation-sinks.ts'
export { nameOfRun } from './run-ledger.ts'
export { batchIdOf, countsOf, isRowOver } from './send-batch-ledger.ts'
export type { RowStand, RowState, SendBatch, SendBatchCounts, SendBatchProgress } from './send-batch-model.ts'
export { sendIdOf } from './send-ledger.ts'
export {
  type FeeCeiling,
  failedHow,
  isSameSend,
  isSendOver,
  progressIn,
  type SendOrder,
  type SendProgress,
  type TransactionReceipt,
  withoutFeeCeiling,
} from './send-model.ts'
export { bodyTimeIn, listedFrom, MOST_ROUNDS, roundIn } from './send-times.ts'
export { describeSendActivity, readTransactionState, sendStatusIdOf } from './sends.ts'
export type { StorePlace } from './store-model.ts'
export { type MovedStore, movePlanStore, readStoreStanding } from './store-move.ts'
export {
  isSamePlace,
  type KeptPlace,
  parseStorePlace,
  readStorePlace,
} from './store-place.ts'
export { definitionsText } from './watch-ledger.ts'
export {
  afterHeld,
  type DriftRow,
  type Held,
  type OfferedDefinitions,
  type TakenDefinitions,
  WATCH_MODES,
  type Watch,
  type WatchCycle,
  type WatchedDefinitions,
  type WatchMode,
  type WatchSource,
  type WatchState,
} from './watch-model.ts'
export type { ReadOnce } from './watch-reads.ts'
export { toUnixMs } from './wire-time.ts'
