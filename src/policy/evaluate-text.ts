import { compileExpression } from './expression.ts'
import { createFrame } from './frame.ts'
import type { PolicyContext, PolicyField } from './model.ts'
import type { FaultKind } from './values.ts'
import { Fault } from './values.ts'

/** The value of an expression, or the error with its offsets in the text. */
export type Evaluated =
  | { readonly value: boolean }
  | {
      readonly error: {
        readonly kind: FaultKind
        readonly message: string
        readonly start: number
        readonly end: number
      }
    }

/**
 * Evaluates one expression for a request. A text that would be refused is an error of kind `InvalidExpression`. To judge
 * many requests compile policies once, with `compilePolicy`, and decide with `authorize`.
 *
 * @example
 * evaluate('consensus', 'approvers.count() >= 2', {
 *   now: 0n,
 *   activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET' },
 *   approvers: [{ id: 'alice' }, { id: 'bob' }],
 * }) //=> { value: true }
 */
export function evaluate(field: PolicyField, text: string, context: PolicyContext): Evaluated {
  const { evaluate: run, unit } = compileExpression(field, text)
  const value = run(createFrame(context))
  if (typeof value === 'boolean') return { value }
  if (!(value instanceof Fault)) {
    const message = `the ${field} is not true or false`
    return { error: { kind: 'TypeMismatch', message, start: 0, end: unit.text.length } }
  }
  const { kind, message, start, end } = value
  return { error: { kind, message, start, end } }
}
