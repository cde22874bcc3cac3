import { authorize, compilePolicy, type Decision, writeRefusal } from '../../policy/index.ts'
import type { CaseOutcome, CaseResult, PolicyCase } from './model.ts'

/** Runs one case and compares its outcome with the expected one. */
export function runCase({ name, policies, context, expected }: PolicyCase): CaseResult {
  const decision = authorize(policies.map(compilePolicy), context)
  const outcomes = Object.fromEntries(decision.policies.map(({ policyId, outcome }) => [policyId, outcome]))
  const refused = policies.filter((policy) => writeRefusal(policy) !== undefined)
  const outcome = outcomeOf()
  const differs = differences()
  return {
    name,
    outcome,
    final: decision.outcome,
    policies: outcomes,
    expected,
    ok: differs.length === 0,
    ...(differs.length === 0 ? {} : { differs }),
  }

  /**
   * `error` is said of the policy under test: the only one, or the first when several are there and the case expects
   * an error; otherwise a policy that errs takes no part, and the decision is the outcome of the case.
   */
  function outcomeOf(): CaseOutcome {
    const [first] = policies
    const word = wordOf(decision)
    if (first === undefined) return word
    const errs = refused.includes(first) || outcomes[first.id] === 'OUTCOME_ERROR'
    if (expected.outcome === 'error') return errs || expectsErrorOf() ? 'error' : word
    return errs && policies.length === 1 && word === 'deny' && expected.policies?.[first.id] !== 'OUTCOME_ERROR'
      ? 'error'
      : word
  }

  function expectsErrorOf(): boolean {
    return Object.entries(expected.policies ?? {}).some(
      ([id, one]) => one === 'OUTCOME_ERROR' && outcomes[id] === 'OUTCOME_ERROR',
    )
  }

  function differences(): readonly string[] {
    const found: string[] = []
    const compare = (what: string, wanted: string | undefined, got: string | undefined) => {
      if (wanted !== undefined && wanted !== got) found.push(`${what}: expected ${wanted}, got ${got ?? 'nothing'}`)
    }
    compare('outcome', expected.outcome, outcome)
    if (expected.outcome === 'error') {
      if (expected.stage === 'write' && refused.length === 0)
        found.push('stage: expected a refusal when it is written, got none')
      if (expected.stage === 'evaluate' && refused.length > 0)
        found.push(`stage: expected an error of evaluation, got a refusal: ${writeRefusal(refused[0]!)}`)
    }
    compare('final', expected.final, decision.outcome)
    for (const [id, wanted] of Object.entries(expected.policies ?? {})) compare(`policy ${id}`, wanted, outcomes[id])
    return found
  }
}

/** The outcome of an activity in one word. */
export function wordOf({ outcome }: Pick<Decision, 'outcome'>): Exclude<CaseOutcome, 'error'> {
  switch (outcome) {
    case 'OUTCOME_ALLOW':
      return 'allow'
    case 'OUTCOME_REQUIRES_CONSENSUS':
      return 'pending'
    default:
      return 'deny'
  }
}
