/**
 * Proofs: what the service signs about its own work. Boot proofs there are none: only an enclave can be attested.
 */
export { type DecidedOutcome, type MadeAddress, signAppProofs } from './app-proofs.ts'
export { insertAppProofs, listAppProofs } from './store.ts'
