/**
 * Resources: one folder a resource: its handlers, its queries, its table (`store.ts`) and its wire form (`wire.ts`). The two
 * tables, `handlers.ts` and `queries.ts`, have one row for each of the API's activity types and queries: how the service
 * carries it out or answers it, or why it does not. Checks come before authorization and once more before execution; who may
 * do what is the engine's and the policies' business.
 */
export { describeService } from './description.ts'
export { handlers } from './handlers.ts'
export { queryHandlers } from './queries.ts'
