/**
 * Why a request was decided as it was: for each policy and field the tree of its clauses. Made on demand, by deciding
 * once more with somebody watching; the decision is `authorize`'s own.
 */
import { authorize, type CompiledPolicy, compileWatched } from './authorize.ts'
import type { Decision, Outcome, PolicyContext, PolicyField, PolicyOutcome, PolicyText } from './model.ts'
import type { NameOf } from './show-value.ts'
import { type Clause, createRecorder, type Recorder } from './trace.ts'
import { type Needs, type Voter, whoElse } from './who-else.ts'

/** A decision with its reasons. Plain data: what `--json` prints, and what every other rendering is made from. */
export interface Explanation {
  readonly outcome: Outcome
  readonly basis: Decision['basis']
  /** Names of the policies that the outcome follows from; empty when it follows from none. */
  readonly decidedBy: readonly string[]
  /** In the order of the policies given; empty when policies were not consulted. */
  readonly policies: readonly PolicyTrace[]
  /** The missing approvals; absent when none is missing, or when no possible approvers were given. */
  readonly needs?: Needs
  /** Names of the policies whose times may make the outcome or what is missing another at another time: `timedBy` of authority; absent where there are none. */
  readonly timedBy?: readonly string[]
  /** Of a request with several calls: each by itself. The rest of this explanation is the worst one's. */
  readonly items?: readonly Explanation[]
}

export interface PolicyTrace {
  readonly policyId: string
  readonly name: string
  readonly effect: PolicyText['effect']
  readonly outcome: Outcome
  readonly error?: PolicyOutcome['error']
  /** The fields that the policy has, in the order in which they are evaluated. */
  readonly fields: readonly FieldTrace[]
}

export interface FieldTrace {
  readonly field: PolicyField
  readonly text: string
  /** Absent when it was not evaluated: its text is refused, or the policy is not active at this time. */
  readonly clause?: Clause
}

export interface ExplainOptions {
  /** Everybody who could approve, for `needs`. */
  readonly people?: readonly Voter[]
  /** The name of an id, for the values shown. */
  readonly nameOf?: NameOf
}

/** Explains the decision of a request. */
export function explain(
  policies: readonly CompiledPolicy[],
  context: PolicyContext,
  options: ExplainOptions = {},
): Explanation {
  const { batch = [], ...shared } = context
  const needs = options.people && whoElse(policies, context, options.people)
  const more = needs === undefined ? {} : { needs }
  if (batch.length === 0) return { ...explainOne(policies, shared, options), ...more }
  const items = batch.map((item) => explainOne(policies, { ...shared, ...item }, options))
  const { outcome } = authorize(policies, context)
  return { ...items.find((item) => item.outcome === outcome)!, ...more, items }
}

const fieldsInOrder = ['time', 'condition', 'consensus'] as const satisfies readonly PolicyField[]

function explainOne(
  policies: readonly CompiledPolicy[],
  context: PolicyContext,
  { nameOf = () => undefined }: ExplainOptions,
): Explanation {
  const watched = policies.map(({ policy }) => {
    const recorders = new Map<PolicyField, Recorder>()
    const compiled = compileWatched(policy, (field) => {
      const recorder = createRecorder()
      recorders.set(field, recorder)
      return recorder.probe
    })
    return { policy, compiled, recorders }
  })
  const decision = authorize(
    watched.map(({ compiled }) => compiled),
    context,
  )
  const traces = decision.policies.map((outcome, index): PolicyTrace => {
    const { policy, recorders } = watched[index]!
    return {
      policyId: policy.id,
      name: policy.name,
      effect: policy.effect,
      outcome: outcome.outcome,
      ...(outcome.error === undefined ? {} : { error: outcome.error }),
      fields: fieldsInOrder.flatMap((field): readonly FieldTrace[] => {
        const text = policy[field]
        if (text === undefined || text === null || (field === 'time' && text === '')) return []
        const clause = recorders.get(field)?.clause(text, nameOf)
        return [{ field, text, ...(clause === undefined ? {} : { clause }) }]
      }),
    }
  })
  return { outcome: decision.outcome, basis: decision.basis, decidedBy: deciding(decision, traces), policies: traces }
}

function deciding({ basis, outcome }: Decision, traces: readonly PolicyTrace[]): readonly string[] {
  return basis === 'policy' ? traces.filter((trace) => trace.outcome === outcome).map(({ name }) => name) : []
}
