/**
 * The operators, methods and functions: one row each, read by lexer hints, parser, checker, evaluator, printer and the
 * language reference (docs/protocol/policies.md#operators).
 */
import type { CompareSymbol, LogicSymbol, QuantifierName } from './ast.ts'
import { areComparable, areOrdered, isComparable, isOpen, type Type } from './types.ts'
import { areEqual, compareOrder, type ExpressionValue } from './values.ts'

/** Bound this tight are `.field`, `.method()`, `[i]` and everything in brackets (U-precedence). */
export const POSTFIX_PRECEDENCE = 5

interface OperatorRow {
  readonly precedence: number
  readonly signature: string
  readonly doc: string
}

/** `&&` and `||` chain to the left; both sides are always evaluated, and an error on either side is the result. */
export const logicOperators: Readonly<
  Record<
    LogicSymbol,
    OperatorRow & {
      readonly associativity: 'left'
      /** The value of one operand that settles the result, whatever the other operand is: `false` for `&&`. */
      readonly settledBy: boolean
    }
  >
> = {
  '||': {
    precedence: 1,
    associativity: 'left',
    signature: '(bool, bool) → bool',
    doc: 'true when either side is; both sides are always evaluated, and an error on either is the result',
    settledBy: true,
  },
  '&&': {
    precedence: 2,
    associativity: 'left',
    signature: '(bool, bool) → bool',
    doc: 'true when both sides are; both sides are always evaluated, and an error on either is the result',
    settledBy: false,
  },
}

export interface CompareRow extends OperatorRow {
  /** `a < b < c` is a syntax error (U-chain). */
  readonly associativity: 'none'
  /** Whether the operator may take values of these types. */
  readonly takes: (left: Type, right: Type) => boolean
  /** The result; undefined when the operator does not take these values. `in` is evaluated element by element. */
  readonly evaluate: (left: ExpressionValue, right: ExpressionValue) => boolean | undefined
}

const COMPARE = 3

function equality(signature: string, doc: string, evaluate: (equal: boolean) => boolean): CompareRow {
  return {
    precedence: COMPARE,
    associativity: 'none',
    signature,
    doc,
    takes: areComparable,
    evaluate: (left, right) => {
      const equal = areEqual(left, right)
      return equal === undefined ? undefined : evaluate(equal)
    },
  }
}

function ordering(doc: string, evaluate: (order: number) => boolean): CompareRow {
  return {
    precedence: COMPARE,
    associativity: 'none',
    signature: '(number, number) or (timestamp, timestamp) → bool',
    doc,
    takes: areOrdered,
    evaluate: (left, right) => {
      const order = compareOrder(left, right)
      return order === undefined ? undefined : evaluate(order)
    },
  }
}

export const compareOperators: Readonly<Record<CompareSymbol, CompareRow>> = {
  '==': equality('(T, T) → bool', 'equal; text is compared exactly, hex text without regard to case', (equal) => equal),
  '!=': equality('(T, T) → bool', 'not equal', (equal) => !equal),
  '<': ordering('less than, or earlier', (order) => order < 0),
  '<=': ordering('at most, or not later', (order) => order <= 0),
  '>': ordering('greater than, or later', (order) => order > 0),
  '>=': ordering('at least, or not earlier', (order) => order >= 0),
  in: {
    precedence: COMPARE,
    associativity: 'none',
    signature: '(T, list<T>) → bool',
    doc: 'some element of the list equals the value; false for the empty list',
    takes: (left, right) =>
      right.kind === 'list'
        ? areComparable(left, right.element)
        : isOpen(right) && (isOpen(left) || isComparable(left)),
    // An element on the right: the evaluator walks the list, `contains` does the same.
    evaluate: areEqual,
  },
}

export const notOperator: OperatorRow = { precedence: 4, signature: 'bool → bool', doc: 'negation' }

export interface MethodRow {
  readonly arguments: string
  readonly signature: string
  readonly doc: string
}

/** Methods that bind a variable; the predicate is evaluated for every element, and an error for any is the result. */
export const quantifiers: Readonly<Record<QuantifierName, MethodRow>> = {
  all: {
    arguments: '(variable, predicate)',
    signature: 'list<T> → bool',
    doc: 'every element satisfies the predicate; true for the empty list',
  },
  any: {
    arguments: '(variable, predicate)',
    signature: 'list<T> → bool',
    doc: 'some element satisfies the predicate; false for the empty list',
  },
  filter: {
    arguments: '(variable, predicate)',
    signature: 'list<T> → list<T>',
    doc: 'the elements that satisfy the predicate, in their order',
  },
}

export const methods = {
  contains: { arguments: '(value)', signature: 'list<T> → bool', doc: 'the same as `value in list`' },
  count: { arguments: '()', signature: 'list<T> → int', doc: 'the number of elements' },
} as const satisfies Readonly<Record<string, MethodRow>>
export type MethodName = keyof typeof methods

export interface FunctionRow extends MethodRow {
  readonly parameters: readonly string[]
}

/** Functions are for `time` alone, and take texts in quotes alone (U-time-scope, U-literal-args). */
export const functions = {
  Timestamp: {
    parameters: ['an RFC 3339 time with a zero offset'],
    arguments: "('2026-01-31T12:00:00Z')",
    signature: 'string → timestamp',
    doc: 'a point in time',
  },
  CronSpan: {
    parameters: ['a cron expression of five fields', 'a duration', 'an IANA time zone'],
    arguments: "('0 9 * * 1-5', '8h', 'Europe/Oslo')",
    signature: '(string, string, string) → bool',
    doc: 'the current time lies in a window that opens each time the cron expression fires, and stays open for the duration',
  },
} as const satisfies Readonly<Record<string, FunctionRow>>
export type FunctionName = keyof typeof functions

export function isLogicSymbol(symbol: string): symbol is LogicSymbol {
  return Object.hasOwn(logicOperators, symbol)
}

export function isCompareSymbol(symbol: string): symbol is CompareSymbol {
  return Object.hasOwn(compareOperators, symbol)
}

export function isQuantifierName(name: string): name is QuantifierName {
  return Object.hasOwn(quantifiers, name)
}

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name)
}

export function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(functions, name)
}
