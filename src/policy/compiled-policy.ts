/**
 * One policy: its expressions compiled once, and the outcome that they give for a request
 * (docs/protocol/policies.md#evaluating-a-policy).
 */

import { type CompiledExpression, compileExpression } from './expression.ts'
import type { Frame } from './frame.ts'
import { compileInclusion, type IsIncluded } from './inclusion.ts'
import type { Outcome, PolicyField, PolicyOutcome, PolicyText } from './model.ts'
import { type Probe, tooManySteps, type Unit } from './unit.ts'
import { Fault } from './values.ts'

/** A policy whose expressions are parsed, checked and compiled once. */
export interface CompiledPolicy {
  readonly policy: PolicyText
  /** A field that is absent holds. */
  readonly time: CompiledExpression | undefined
  readonly condition: CompiledExpression | undefined
  readonly consensus: CompiledExpression | undefined
  readonly isIncluded: IsIncluded
  /** The outcomes without details, made once: for most requests most policies have one of them. */
  readonly outcomes: Readonly<Record<QuietOutcome, PolicyOutcome>>
}

/** Outcomes that carry no details, such as an error. */
type QuietOutcome = Exclude<Outcome, 'OUTCOME_ERROR' | 'OUTCOME_REJECTED' | 'OUTCOME_REQUIRES_AUTHENTICATORS'>

/** Compiles a policy. Never throws: a field that cannot be compiled makes the policy `OUTCOME_ERROR` when it is evaluated. */
export function compilePolicy(policy: PolicyText): CompiledPolicy {
  return compileWatched(policy)
}

/** Makes a compiler of many policies, which compiles what is read of each, and an expression that several of them have once. */
export function createCompiler(): (policy: PolicyText) => CompiledPolicy {
  const known = { time: new Map(), condition: new Map(), consensus: new Map() } satisfies Record<
    PolicyField,
    Map<string, CompiledExpression>
  >
  const compile: Compile = (field, text) => {
    const compiled = known[field].get(text) ?? compileExpression(field, text)
    known[field].set(text, compiled)
    return compiled
  }
  return (policy) => new CompiledWhenRead(policy, compile)
}

type Compile = (field: PolicyField, text: string) => CompiledExpression

/** A policy each of whose expressions is compiled when it is first read: of many policies few are asked about. */
class CompiledWhenRead implements CompiledPolicy {
  readonly policy: PolicyText
  readonly #compile: Compile
  #time: CompiledExpression | undefined
  #condition: CompiledExpression | undefined
  #consensus: CompiledExpression | undefined
  #isIncluded: IsIncluded | undefined
  #outcomes: CompiledPolicy['outcomes'] | undefined

  constructor(policy: PolicyText, compile: Compile) {
    this.policy = policy
    this.#compile = compile
  }

  get time(): CompiledExpression | undefined {
    this.#time ??= compileField(this.policy, 'time', this.#compile)
    return this.#time
  }

  get condition(): CompiledExpression | undefined {
    this.#condition ??= compileField(this.policy, 'condition', this.#compile)
    return this.#condition
  }

  get consensus(): CompiledExpression | undefined {
    this.#consensus ??= compileField(this.policy, 'consensus', this.#compile)
    return this.#consensus
  }

  get isIncluded(): IsIncluded {
    this.#isIncluded ??= inclusionOf(this.consensus)
    return this.#isIncluded
  }

  get outcomes(): CompiledPolicy['outcomes'] {
    this.#outcomes ??= outcomesOf(this.policy)
    return this.#outcomes
  }
}

/** Makes the probe of one field of a policy: it is called for each compiled node (tracing, coverage). */
export type MakeProbe = (field: PolicyField, types: Unit['types']) => Probe

/** Compiles a policy with probes on its nodes, for a trace or for coverage. It decides as the one of `compilePolicy` does. */
export function compileWatched(policy: PolicyText, watch?: MakeProbe): CompiledPolicy {
  return compileEach(policy, (field, text) => compileExpression(field, text, watch && ((types) => watch(field, types))))
}

function compileEach(policy: PolicyText, compile: Compile): CompiledPolicy {
  const consensus = compileField(policy, 'consensus', compile)
  return {
    policy,
    time: compileField(policy, 'time', compile),
    condition: compileField(policy, 'condition', compile),
    consensus,
    isIncluded: inclusionOf(consensus),
    outcomes: outcomesOf(policy),
  }
}

function compileField(policy: PolicyText, field: PolicyField, compile: Compile): CompiledExpression | undefined {
  const text = policy[field]
  // An empty time is always active; an empty condition or consensus does not parse (docs/protocol/policies.md#a-policy).
  if (text === undefined || text === null || (field === 'time' && text === '')) return undefined
  return compile(field, text)
}

function inclusionOf(consensus: CompiledExpression | undefined): IsIncluded {
  if (consensus === undefined) return () => true
  return consensus.tree ? compileInclusion(consensus.unit, consensus.tree) : () => false
}

function outcomesOf({ id }: PolicyText): CompiledPolicy['outcomes'] {
  const quiet = (outcome: QuietOutcome): PolicyOutcome => Object.freeze({ policyId: id, outcome })
  return {
    OUTCOME_ALLOW: quiet('OUTCOME_ALLOW'),
    OUTCOME_DENY_EXPLICIT: quiet('OUTCOME_DENY_EXPLICIT'),
    OUTCOME_DENY_IMPLICIT: quiet('OUTCOME_DENY_IMPLICIT'),
    OUTCOME_REQUIRES_CONSENSUS: quiet('OUTCOME_REQUIRES_CONSENSUS'),
    OUTCOME_TIME_INACTIVE: quiet('OUTCOME_TIME_INACTIVE'),
  }
}

/** The outcome of one policy (U-per-policy). The frame is of the request, and may be used for one policy after another. */
export function evaluatePolicy(compiled: CompiledPolicy, frame: Frame): PolicyOutcome {
  const { policy, outcomes } = compiled
  const time = holds(compiled.time, frame)
  if (time === false) return outcomes.OUTCOME_TIME_INACTIVE
  // Both are evaluated whatever the other is; of two errors the condition's is told.
  const condition = holds(compiled.condition, frame)
  const consensus = holds(compiled.consensus, frame)
  if (typeof time !== 'boolean') return failed(policy, 'time', time)
  if (typeof condition !== 'boolean') return failed(policy, 'condition', condition)
  if (typeof consensus !== 'boolean') return failed(policy, 'consensus', consensus)
  const allows = policy.effect === 'EFFECT_ALLOW'
  if (condition && consensus) return allows ? outcomes.OUTCOME_ALLOW : outcomes.OUTCOME_DENY_EXPLICIT
  if (allows && condition && someVoterIsIncluded(compiled, frame)) return outcomes.OUTCOME_REQUIRES_CONSENSUS
  return outcomes.OUTCOME_DENY_IMPLICIT
}

/** Evaluates every policy for a request. */
export function evaluateEach(policies: readonly CompiledPolicy[], frame: Frame): readonly PolicyOutcome[] {
  // A list that grows would take most of the time of a single policy.
  if (policies.length === 1) return [evaluatePolicy(policies[0]!, frame)]
  const outcomes: PolicyOutcome[] = []
  for (let i = 0; i < policies.length; i++) outcomes.push(evaluatePolicy(policies[i]!, frame))
  return outcomes
}

/** Whether a field holds; an absent one does. */
export function holds(expression: CompiledExpression | undefined, frame: Frame): boolean | Fault {
  if (expression === undefined) return true
  if (!frame.begin(expression.cost)) return tooManySteps({ text: '', start: 0, end: expression.unit.text.length })
  const value = expression.evaluate(frame)
  frame.end()
  if (typeof value === 'boolean' || value instanceof Fault) return value
  const end = expression.unit.text.length
  return new Fault('TypeMismatch', `the ${expression.field} is not true or false`, { start: 0, end })
}

function failed({ id }: PolicyText, field: PolicyField, { kind, message, start, end }: Fault): PolicyOutcome {
  return { policyId: id, outcome: 'OUTCOME_ERROR', error: { kind, message, field, start, end } }
}

function someVoterIsIncluded({ isIncluded }: CompiledPolicy, frame: Frame): boolean {
  const { approvers, credentials = [] } = frame.context
  return (
    approvers.some((approver) => isIncluded(frame, approver, undefined)) ||
    credentials.some((credential) => isIncluded(frame, undefined, credential))
  )
}
