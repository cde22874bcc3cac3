/** One expression through the whole pipeline: parsed, checked, and, when nothing is wrong with it, compiled. */

import { type Diagnostic, diagnostic, type Source, sortDiagnostics, spanAt } from '../diagnostics/index.ts'
import { type Expression, sizeOf } from './ast.ts'
import { checkTree } from './check.ts'
import { constantProblems } from './constant.ts'
import { compile, type Evaluate, type Probe, type Unit } from './evaluate.ts'
import type { PolicyField } from './model.ts'
import { parse } from './parser.ts'
import type { PolicyProblem } from './problem.ts'
import { Fault } from './values.ts'

/**
 * Everything that is wrong with an expression, in the order of its text. Errors are refused by the service, warnings not.
 *
 * @example
 * checkText('condition', "wallet.idd == 'w'").map(({ message, start, end, help }) => ({ message, start, end, help }))
 * //=> [{ message: 'a Wallet has no field `idd`', start: 7, end: 10, help: 'did you mean `id`?' }]
 *
 * @example
 * checkText('consensus', 'approvers.count() >= 2') //=> []
 */
export function checkText(field: PolicyField, text: string): readonly PolicyProblem[] {
  // An empty time is always active (docs/protocol/policies.md#a-policy).
  if (field === 'time' && text === '') return []
  const { tree, problems } = parse(text)
  if (tree === undefined) return inOrder(problems)
  const checked = checkTree(field, tree)
  const all = [...problems, ...checked.problems]
  // Constant clauses are reported only for a tree without errors.
  return inOrder(all.some(isError) ? all : [...all, ...constantProblems({ text, types: checked.types }, tree)])
}

/** `checkText` as diagnostics of a source that holds the expression and nothing else. */
export function checkExpression(field: PolicyField, source: Source): readonly Diagnostic[] {
  return sortDiagnostics(
    checkText(field, source.text).map(({ code, message, start, end, severity, help }) =>
      diagnostic(code, message, spanAt(source, start, end), { severity, help }),
    ),
  )
}

export interface CompiledExpression {
  readonly field: PolicyField
  readonly evaluate: Evaluate
  /** Absent when the text is refused; evaluating it is then a fault that says why. */
  readonly tree?: Expression
  readonly unit: Unit
  /** Steps that evaluating it takes at least: its nodes, and its text. */
  readonly cost: number
}

/**
 * Compiles an expression; a text that would be refused compiles to a fault. The unit that comes back has no probe:
 * what else is compiled from it, such as who is included, is not watched.
 */
export function compileExpression(
  field: PolicyField,
  text: string,
  probe?: (types: Unit['types']) => Probe,
): CompiledExpression {
  const { tree, problems } = parse(text)
  if (tree !== undefined) {
    const checked = checkTree(field, tree)
    const unit: Unit = { text, types: checked.types }
    if (![...problems, ...checked.problems].some(isError)) {
      const cost = sizeOf(tree) + (text.length >> 6)
      if (probe !== undefined) {
        const watched = { ...unit, probe: probe(checked.types) }
        return { field, tree, unit, evaluate: compile(watched, tree, undefined), cost }
      }
      // Analyses read many trees that they never evaluate.
      const evaluateFirst: Evaluate = (frame) => {
        expression.evaluate = compile(unit, tree, undefined)
        return expression.evaluate(frame)
      }
      const expression = { field, tree, unit, evaluate: evaluateFirst, cost }
      return expression
    }
  }
  const [first] = checkText(field, text).filter(isError)
  const { message, start, end } = first!
  const fault = new Fault('InvalidExpression', message, { start, end })
  return { field, unit: { text, types: new Map() }, evaluate: () => fault, cost: 1 }
}

export function isError({ severity }: PolicyProblem): boolean {
  return severity === 'error'
}

function inOrder(problems: readonly PolicyProblem[]): readonly PolicyProblem[] {
  return [...problems].sort((a, b) => a.start - b.start || a.end - b.end)
}
