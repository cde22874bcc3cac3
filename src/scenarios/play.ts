/** Plays scenarios: decides each and compares the decision with the expected one. */
import type { Span } from '../diagnostics/index.ts'
import {
  authorize,
  type CompiledPolicy,
  type Decision,
  type Explanation,
  explain,
  type Needs,
  type PolicyOutcome,
  type Voter,
  whoElse,
} from '../policy/index.ts'
import { wordOf } from './cases/run-case.ts'
import { describeTrace } from './describe.ts'
import { POLICY_WORDS } from './form.ts'
import type { Locate } from './lines.ts'
import type { Expectation, Scenario, ScenarioResult, UnmetExpectation } from './model.ts'
import { sortSets } from './read-scenarios.ts'

export interface Stage {
  readonly policies: readonly CompiledPolicy[]
  /** Everybody who could approve at a time. */
  readonly peopleAt: (now: bigint) => readonly Voter[]
  readonly nameOf: (id: string) => string | undefined
  readonly locate: Locate
}

/** Plays one scenario. The reasons are looked for only when it fails. */
export function play({ name, span, why, context, expected }: Scenario, stage: Stage): ScenarioResult {
  const decision = authorize(stage.policies, context)
  const { policies: outcomes } = decision
  const got = {
    outcome: wordOf(decision),
    decidedBy: decidedBy(decision, stage.policies),
    errors: namesOf(outcomes, 'OUTCOME_ERROR', stage.policies),
  }
  const differences: UnmetExpectation[] = []
  const compare = (what: string, at: Span, wanted: string, found: string) => {
    if (wanted !== found) differences.push({ what, expected: wanted, got: found, ...stage.locate(at) })
  }
  const { outcome, policies = [], needs } = expected
  if (outcome) {
    const errs = outcome.value === 'error' && got.outcome === 'deny' && got.errors.length > 0
    compare('outcome', outcome.span, outcome.value, errs ? 'error' : got.outcome)
  }
  if (expected.decidedBy)
    compare('decidedBy', expected.decidedBy.span, list(expected.decidedBy.value), list(got.decidedBy))
  if (expected.errors) compare('errors', expected.errors.span, list(expected.errors.value), list(got.errors))
  for (const { policy, value, span: at } of policies)
    compare(`policies.${policy}`, at, value, policyWord(policy, outcomes, stage.policies))
  if (needs)
    compare(
      'needs',
      needs.span,
      showSets(needs.value),
      showNeeds(whoElse(stage.policies, context, stage.peopleAt(context.now))),
    )
  const ok = differences.length === 0
  return {
    name,
    ok,
    ...stage.locate(span),
    ...(why === undefined ? {} : { why }),
    got,
    differences,
    because: ok ? [] : reasons(explain(stage.policies, context, { nameOf: stage.nameOf }), expected),
  }
}

/** Why: the policies that came to something or are expected to have; all of them when there are none. */
function reasons(explanation: Explanation, { decidedBy, errors, policies = [] }: Expectation): readonly string[] {
  const named = new Set([
    ...(decidedBy?.value ?? []),
    ...(errors?.value ?? []),
    ...policies.map(({ policy }) => policy),
  ])
  const telling = explanation.policies.filter(
    ({ name, outcome }) => outcome !== 'OUTCOME_DENY_IMPLICIT' || named.has(name),
  )
  return describeTrace(telling.length === 0 ? explanation : { ...explanation, policies: telling })
}

function decidedBy(decision: Decision, policies: readonly CompiledPolicy[]): readonly string[] {
  return decision.basis === 'policy' ? namesOf(decision.policies, decision.outcome, policies) : [decision.basis]
}

function namesOf(
  outcomes: readonly PolicyOutcome[],
  wanted: PolicyOutcome['outcome'],
  policies: readonly CompiledPolicy[],
): readonly string[] {
  return outcomes
    .flatMap(({ policyId, outcome }) => (outcome === wanted ? [nameOfPolicy(policyId, policies)] : []))
    .sort()
}

function nameOfPolicy(id: string, policies: readonly CompiledPolicy[]): string {
  return policies.find(({ policy }) => policy.id === id)!.policy.name
}

function policyWord(name: string, outcomes: readonly PolicyOutcome[], policies: readonly CompiledPolicy[]): string {
  const found = outcomes.find(({ policyId }) => nameOfPolicy(policyId, policies) === name)
  if (found === undefined) return 'not asked'
  const words: Readonly<Record<string, string>> = POLICY_WORDS
  return words[found.outcome] ?? found.outcome
}

function showNeeds(needs: Needs | undefined): string {
  if (needs === undefined || typeof needs === 'string') return needs ?? 'nobody'
  return showSets(sortSets(needs.sets))
}

/** `bob, or carol and dave`. */
function showSets(sets: readonly (readonly string[])[]): string {
  return sets.length === 0 ? 'nobody' : sets.map((set) => set.join(' and ')).join(', or ')
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : [...names].sort().join(', ')
}
