/** The context of compiling a tree: its text, the variables in scope, and the faults of any node. */
import type { Expression, Quantifier } from './ast.ts'
import type { Frame } from './frame.ts'
import { limits, stepsOfText } from './limits.ts'
import type { Type } from './types.ts'
import {
  type ExpressionValue,
  Fault,
  FoldedText,
  type Loader,
  quoted,
  type ReadPlace,
  type Result,
  showKind,
} from './values.ts'

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Result

/** Compiles a tree that was checked without errors. */
export type Compile = (unit: Unit, node: Expression, scope: Scope | undefined) => Evaluate

/** A checked tree, and the text that faults quote from. */
export interface Unit {
  readonly text: string
  readonly types: ReadonlyMap<Expression, Type>
  /** Called once for each node as it is compiled (tracing, coverage). Without it evaluation costs nothing more. */
  readonly probe?: Probe | undefined
}

/** Returns the evaluator to use in place of a compiled node: usually one that calls it and notes the value. */
export type Probe = (node: Expression, evaluate: Evaluate) => Evaluate

/** The variables in scope, innermost first. */
export interface Scope {
  readonly name: string
  /** The current element; the quantifier's loop writes it before each call of the predicate. */
  readonly variable: Variable
  readonly outer: Scope | undefined
}

/** INVARIANT: evaluating is one piece of work that never waits, so a variable has one user at a time. */
export interface Variable {
  value: ExpressionValue | undefined
}

/** The scope inside of a predicate. */
export function within(node: Quantifier, outer: Scope | undefined): Scope {
  return { name: node.variable.text, variable: { value: undefined }, outer }
}

/** Where a node stands in its text. */
export function at({ text }: Unit, { start, end }: { readonly start: number; readonly end: number }): ReadPlace {
  return { text, start, end }
}

/** The fault of a value that is not there. */
export function missingAt(place: ReadPlace): Fault {
  return new Fault('MissingField', `${quoted(place)} is missing`, place)
}

/** The fault of a root that says nothing of an activity of this type. */
export function undefinedAt(place: ReadPlace): Fault {
  return new Fault('MissingField', `${quoted(place)} is not defined for this activity`, place)
}

/** Takes from the work that is left; false when it is used up. */
export function spend(frame: Frame, steps: number): boolean {
  frame.steps -= steps
  return frame.steps >= 0
}

/** Pays for reading a long text; false when the steps are used up. Values of other types are read in one step. */
export function spendOnText(frame: Frame, value: Result): boolean {
  const length = typeof value === 'string' ? value.length : value instanceof FoldedText ? value.text.length : 0
  return length < 64 || spend(frame, stepsOfText(length))
}

/** The reader of a field. The type of a decoded text is found by reading it, so a long one costs steps. */
export function readerFor(type: Type, load: Loader, place: ReadPlace): (frame: Frame, raw: unknown) => Result {
  if (type.kind !== 'dynamic') return (_, raw) => load(raw, place)
  return (frame, raw) => {
    const value = load(raw, place)
    return value instanceof Fault || spendOnText(frame, value) ? value : tooManySteps(place)
  }
}

export function tooManySteps(place: ReadPlace): Fault {
  const most = `${limits.steps} steps, or the request more than ${limits.stepsOfRequest}`
  return new Fault('TooManySteps', `the expression takes more than ${most}`, place)
}

export function mismatchAt(place: ReadPlace): (left: ExpressionValue, right: ExpressionValue) => Fault {
  return (left, right) =>
    new Fault('TypeMismatch', `${quoted(place)} has operands of type ${showKind(left)} and ${showKind(right)}`, place)
}

export function notBool(value: ExpressionValue, place: ReadPlace): Fault {
  return new Fault('TypeMismatch', `${quoted(place)} is a ${showKind(value)}, expected bool`, place)
}

export function notList(value: ExpressionValue, place: ReadPlace): Fault {
  return new Fault('TypeMismatch', `${quoted(place)} is a ${showKind(value)}, expected list`, place)
}
