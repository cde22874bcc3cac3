/**
 * Handlers: one row for each of the API's activity types: how the service carries it out, or why it does not. Checks
 * come before authorization and once more before execution; who may do what is the engine's and the policies' business.
 */
export { handlers } from './rows.ts'
