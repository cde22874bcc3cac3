/**
 * Analysis: what a plan will mean once it is applied. It annotates a plan, which knows nothing of it, with the outcome of
 * each activity: completes, waits for whom, denied why. Decides with the same policy engine as the service, over a state
 * that it carries forward batch by batch; pure, and reads nothing live.
 */
export { accessBetween } from './access.ts'
export { beginningOf, type Former, keyOf, thingsAt } from './at.ts'
export {
  type BacktestRow,
  backtest,
  type PolicyUsage,
  type Proposal,
  proposalsOf,
  type Recordings,
  type Usage,
  usageOf,
} from './backtest.ts'
export { type ComparedPower, comparePolicies, type PolicySet, type Relation, relationOf } from './compare.ts'
export { listenToComputing } from './computing.ts'
export { effectOf } from './effect.ts'
export { GAINS } from './families.ts'
export { type ForecastInput, forecast } from './forecast.ts'
export { type HeldPower, heldPowers } from './held-powers.ts'
export {
  type IndirectPath,
  type IndirectPowers,
  type IndirectRow,
  type IndirectStep,
  indirectPowersOf,
} from './indirect.ts'
export { planWithForecast } from './plan-best.ts'
export { POWER_WORDS, POWERS, type PowerName, powerCalled } from './power-table.ts'
export { lineWith, type PowerLine, type PowerRow, powersOf, waysOf } from './powers.ts'
export {
  createRecordedJudge,
  type RecordedDecision,
  type RecordedOutcome,
  recordedOutcome,
  thingsAfter,
} from './recorded.ts'
export { type CredentialAdded, type Review, reviewOf, type Standing } from './review.ts'
export { declaredThings } from './state.ts'
export { type UselessPolicy, uselessPolicies } from './useless.ts'
export type { Play } from './witness.ts'
