/**
 * Resources: one folder a resource: its handlers, its queries, its table (`store.ts`) and its wire form (`wire.ts`). `catalogue.ts`
 * has one row for each of the API's activity types and queries: how the service carries it out or answers it, or why it does not. Checks come before authorization and once more before execution; who may
 * do what is the engine's and the policies' business.
 */
export { handlers, queryHandlers } from './catalogue.ts'
export { describeService, listOperations, type OperationFacts } from './description.ts'
