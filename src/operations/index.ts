/**
 * Operations: plan an organization with what is inside it, apply a plan, follow what runs, vote, import: functions that return
 * values, tell events, and print nothing. Workflow ids, task queues and the clients of the API stand here once. The CLI and the
 * worker are doors: they read settings, show and ask, and call these.
 */

export {
  type ApplyHandle,
  type ApplyPlace,
  askAnew,
  askInside,
  askProgress,
  assertWorker,
  cancelApply,
  findApply,
  followApply,
  type InsideHandle,
  isApplying,
  nudgeApply,
  progressOfApply,
  workerSeenAt,
} from './apply.ts'
export { exitOf } from './apply-end.ts'
export {
  beginningInside,
  followBegun,
  type InsideOutcome,
  movedAnywhere,
  type RunningInside,
  runningInside,
} from './apply-inside.ts'
export { type ApplyDoor, type ApplyEvent, applyFolder, applySaved, type LockKept } from './apply-plan.ts'
export { type CarriedOut, type CarryOutEvent, carryOut, exitOfAll, hasWork } from './carry-out.ts'
export { createClients, createSendClients, keyInside, rateOf, reader, submitter } from './clients.ts'
export { assertCommittable, commitFiles, trackedOf } from './commit-files.ts'
export { checkGitSource, createCommitReader } from './commit-source.ts'
export { compromisedOf, markCompromised, shareMarks } from './compromised-keys.ts'
export { followRun } from './follow.ts'
export { textsFor } from './follow-things.ts'
export { type ImportResult, importFolder } from './import-folder.ts'
export { assertFolder, type GivenValues, loadFolder } from './load-folder.ts'
export { type LockNews, lockNews } from './lock-news.ts'
export { sendBatchWorkflowId, sendWorkflowId, taskQueueOf } from './names.ts'
export {
  failedRotations,
  giveUpRotation,
  type OpenRotation,
  openRotations,
  openRotationsWithEnds,
  rotationKeysOf,
} from './open-rotations.ts'
export type { Place, PlaceKey } from './place.ts'
export { assertAllowed, assertApplicable, assertNotRejected } from './plan-checks.ts'
export {
  type PlanEvent,
  type Planned,
  type PlanRequest,
  planFolder,
  saveLock,
} from './plan-folder.ts'
export { type Pushed, pushFolder } from './push.ts'
export { type PowerReason, readReasons } from './reasons.ts'
export { findRenewable, isRenewed, type Renewed, type RenewedFile, renewDefinitions } from './renew-definitions.ts'
export {
  type Deviation,
  type Explained,
  type PlanName,
  type ReviewedActivity,
  reviewActivity,
} from './review.ts'
export {
  beginRotation,
  followRotation,
  orderedWhere,
  orderRotation,
  type RotationHandle,
  type RotationRequest,
  rotationThatMade,
} from './rotate.ts'
export {
  type DueKey,
  type LeftKey,
  orderRotations,
  type ReportedRotation,
  type RotationOfMany,
  rotationsSince,
} from './rotate-all.ts'
export { findProxyKey, type ProxyKey, type ProxyPart, type ProxyRotation, rotateProxyKey } from './rotate-auth-proxy.ts'
export {
  findOauth2Credential,
  type Oauth2Door,
  type Oauth2Part,
  type Oauth2Rotation,
  type ProviderLogin,
  rotateOauth2,
} from './rotate-oauth2.ts'
export { progressOfRotations } from './rotations-running.ts'
export { APPLY, BATCH, foreignEndOf, ROTATION, SEND } from './run-end.ts'
export { registerSearchAttributes, startShown, whereShown } from './search-attributes.ts'
export { progressOfSends } from './sends-running.ts'
export { type Survey, surveyDefinitions } from './survey.ts'
export { isServiceError } from './temporal-errors.ts'
export { userCalled } from './user-called.ts'
export {
  castVote,
  findActivity,
  isAsVoted,
  listActivities,
  listRecorded,
  listWaiting,
  MOST_WAITING,
  mayBeCast,
  readFactors,
} from './waiting.ts'
export {
  addWatch,
  addWatchFrom,
  findWatch,
  listWatches,
  type PlannedSource,
  pauseWatch,
  planSource,
  removeWatch,
  resumeWatch,
  runWatch,
  untilLooked,
  type Watched,
} from './watch.ts'
export { type ActivityNews, createNewsTaker } from './watch-news.ts'
export { createWatchPlanner } from './watch-plan.ts'
