/**
 * Policy: the expression language of policies: text → tree → type → value → decision. Pure: no clock, no I/O.
 * *Evaluate* turns one expression into a value; *authorize* turns many policies into a decision.
 */
export type {
  Approver,
  CredentialFacts,
  Decision,
  Outcome,
  PolicyContext,
  PolicyField,
  PolicyOutcome,
  PolicyText,
} from './model.ts'
