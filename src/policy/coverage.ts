/** Coverage: how often each clause of a policy was true, false or an error, over many evaluations. */
import type { Expression } from './ast.ts'
import { type CompiledPolicy, compileWatched } from './authorize.ts'
import type { Unit } from './evaluate.ts'
import { wholeExtent } from './extent.ts'
import type { PolicyField, PolicyText } from './model.ts'
import { Fault } from './values.ts'

/** The counts of one clause, by its offsets in the text of its field. */
export interface ClauseCount {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly timesTrue: number
  readonly timesFalse: number
  readonly timesError: number
}

export interface FieldCount {
  readonly field: PolicyField
  /** Outer clauses before inner ones, in the order of the text. */
  readonly clauses: readonly ClauseCount[]
}

export interface PolicyCount {
  readonly policyId: string
  readonly fields: readonly FieldCount[]
}

interface Counter {
  true: number
  false: number
  error: number
}

/** Compiles a policy that counts the values of its clauses; `counts` reads the counts so far. */
export function compileCounted(policy: PolicyText): {
  readonly compiled: CompiledPolicy
  readonly counts: () => PolicyCount
} {
  const fields = new Map<PolicyField, Map<Expression, Counter>>()
  const compiled = compileWatched(policy, (field, types) => {
    const counters = new Map<Expression, Counter>()
    fields.set(field, counters)
    return (node, evaluate) => {
      if (!isCounted(node, types)) return evaluate
      const counter: Counter = { true: 0, false: 0, error: 0 }
      counters.set(node, counter)
      return (frame) => {
        const result = evaluate(frame)
        if (result === true) counter.true++
        else if (result === false) counter.false++
        else if (result instanceof Fault) counter.error++
        return result
      }
    }
  })
  return {
    compiled,
    counts: () => ({
      policyId: policy.id,
      fields: [...fields].map(([field, counters]) => ({
        field,
        clauses: [...counters]
          .map(([node, counter]): ClauseCount => {
            const { start, end } = wholeExtent(policy[field]!, node)
            return {
              start,
              end,
              text: policy[field]!.slice(start, end),
              timesTrue: counter.true,
              timesFalse: counter.false,
              timesError: counter.error,
            }
          })
          .sort((a, b) => a.start - b.start || b.end - a.end),
      })),
    }),
  }
}

/** Everything that is a bool and is not written as one. */
function isCounted(node: Expression, types: Unit['types']): boolean {
  return node.kind !== 'bool' && types.get(node)?.kind === 'bool'
}
