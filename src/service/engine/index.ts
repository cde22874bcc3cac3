/**
 * Engine: submit → authorize → consensus → execute → settle, in one transaction a request. Knows no resource: what an activity
 * does is its handler's business, and who may do it the policies'.
 */
export { createEngine, type Engine } from './engine.ts'
export type { ExecutionContext, Handler, HandlerContext, NotExecuted, Outside } from './handler.ts'
export type { Known } from './known.ts'
export { decodeOutcomes } from './outcomes.ts'
export type { QueryContext, QueryHandler } from './query.ts'
export { weightOfBytes, weightOfExpressions } from './work.ts'
