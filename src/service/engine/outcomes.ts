import type { Outcome, PolicyOutcome } from '../../policy/index.ts'
import type { KeptEvaluation } from '../store/index.ts'

/** How the outcome of a policy is kept: every vote has one for each policy. */
const LETTERS: Readonly<Record<Outcome, string>> = {
  OUTCOME_ALLOW: 'A',
  OUTCOME_DENY_EXPLICIT: 'D',
  OUTCOME_DENY_IMPLICIT: 'I',
  OUTCOME_REQUIRES_CONSENSUS: 'C',
  OUTCOME_TIME_INACTIVE: 'T',
  OUTCOME_ERROR: 'E',
  OUTCOME_REJECTED: 'R',
  OUTCOME_REQUIRES_AUTHENTICATORS: 'U',
}
const CODES = new Map(Object.entries(LETTERS).map(([outcome, letter]) => [outcome, letter.charCodeAt(0)]))
const OUTCOMES = new Map(Object.entries(LETTERS).map(([outcome, letter]) => [letter, outcome]))

/** Writes outcomes as they are kept: which policies they are of is kept once, with the version of the policies. */
export function encodeOutcomes(policies: readonly PolicyOutcome[]): string {
  const letters = Buffer.allocUnsafe(policies.length)
  for (let at = 0; at < policies.length; at++) letters[at] = CODES.get(policies[at]!.outcome)!
  return letters.toString('latin1')
}

/** Reads what policies made of a vote. */
export function decodeOutcomes({ outcomes, policy_ids: ids }: Pick<KeptEvaluation, 'outcomes' | 'policy_ids'>) {
  const policyIds = JSON.parse(ids ?? '[]') as readonly string[]
  return policyIds.map((policyId, at) => ({ policyId, outcome: OUTCOMES.get(outcomes[at]!)! }))
}
