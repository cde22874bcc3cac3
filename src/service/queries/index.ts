/**
 * Queries: one row for each of the API's queries: what the service answers, or why it does not. They read one consistent
 * view of one organization, past the policies; who may read it the engine has settled before.
 */
export { queryHandlers } from './rows.ts'
