/**
 * Engine: prepare what the world outside must be asked → admit the caller → decide → execute → record, in one transaction a
 * request → follow-ups after the commit. Knows no resource: what an activity
 * does is its handler's business, and who may do it the policies'.
 */
export { listStanding } from './ballots.ts'
export { CountedRefusal } from './counted-refusal.ts'
export { createEngine, type Engine } from './engine.ts'
export type {
  BegunOnRamp,
  ExchangedCode,
  ExecutionContext,
  Handler,
  HandlerContext,
  NotExecuted,
  Outside,
} from './handler.ts'
export { textOfIntent } from './intent-text.ts'
export { factorOfVote, isPending } from './mfa.ts'
export { decodeOutcomes } from './outcomes.ts'
export type { QueryContext, QueryHandler } from './query.ts'
export type { ReportFacts, RequestFacts } from './request-facts.ts'
export type { ChangedActivity } from './telling.ts'
export { weightOfBytes, weightOfExpressions } from './work.ts'
