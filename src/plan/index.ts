/**
 * Plan: from desired and actual state to a document that says everything that will be done: which live thing each name
 * means, what differs, in what order, in how few activities, and what should stop it. Pure: no clock, no I/O; `forecast`
 * is somebody else's annotation (analysis). Generic over the catalogue of resources; only `authority.ts` names kinds.
 * Workflows import `walk.ts` alone, by path.
 */

export { type Allowed, parseAllow } from './allow.ts'
export { amountNote } from './amounts.ts'
export { isMemberOfQuorum } from './authority.ts'
export { deniersText } from './circumstance.ts'
export { codes } from './codes.ts'
export { digestOf, sealed } from './digest.ts'
export {
  type Access,
  type AccessChange,
  type AccessLimit,
  type Batch,
  type Cause,
  type Change,
  type ChangeAction,
  type ChangeAuthor,
  type Forecast,
  GUARDS,
  type Guard,
  type GuardName,
  type LivePart,
  type LiveThing,
  type Plan,
  type Undo,
  type WaitingBatch,
  type Ways,
} from './document.ts'
export { checkFresh, kindsOf, liveDigest, movedSince, subOrganizationsOf } from './fresh.ts'
export { type CreatedBy, type Creators, type Identified, identify } from './identify.ts'
export {
  allPlans,
  appliedPlans,
  digestInside,
  foresee,
  guardsThatStop,
  hasChanges,
  isStandIn,
  makerOf,
  makersOf,
  plansInside,
  settle,
  withInside,
  withoutInside,
} from './inside.ts'
export { extendLock, type Lock, type LockPlaces, type LockRow, type LockRows } from './lock.ts'
export { likesOf } from './look-alikes.ts'
export type { Made } from './made.ts'
export {
  draftPlan,
  draftSteps,
  finishPlan,
  makePlan,
  type PlanInput,
  type PlanMade,
  type PlanSteps,
} from './make.ts'
export { renderPlanMarkdown } from './markdown.ts'
export { type OneActivity, planOfActivity } from './of-activity.ts'
export { partOf } from './part.ts'
export { readPlan, writePlan } from './read.ts'
export { isForgotten } from './removal.ts'
export { type PlanStyles, renderDifference, renderEffects, renderPlanText, renderPower } from './render.ts'
export { isInPart } from './target.ts'
export { isNobody, type UndoLine, undoLines, withUndo } from './undo.ts'
export { loneReference } from './value-text.ts'
export {
  type BatchOutline,
  type BatchState,
  blockedBatches,
  collectIds,
  fillParameters,
  makeBody,
  outline,
  type PlanOutline,
  readyBatches,
} from './walk.ts'
export {
  AFTER_REJECTION,
  approvalRounds,
  authorText,
  driftText,
  editedText,
  factorsText,
  rejectionText,
  renderApprovers,
  renderForecast,
  shortCode,
  summarize,
  timedText,
  waysText,
} from './words.ts'
