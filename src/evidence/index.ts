/**
 * Evidence: what decided an activity, in a file that somebody without access can check: the bytes that were submitted, the stamps of
 * every voter, the policies and people, and the decision. It asks no network; what goes in was read by others.
 */
export { type EvidenceInput, makeEvidence } from './make.ts'
export { type ActivityEvidence, FORMAT, type SignedEvidence } from './model.ts'
export { textOf } from './text.ts'
export { type CheckVerdict, type EvidenceCheck, type VerifiedEvidence, verifyEvidence } from './verify.ts'
