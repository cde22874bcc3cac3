/**
 * Store: the only SQL of the service. Typed rows, one function a question, every one taking the open transaction and
 * the organization. It decides nothing; an id of another organization looks like an id that does not exist.
 */
export type * from './schema.ts'
export { type Transaction, withSavepoint } from './transaction.ts'
