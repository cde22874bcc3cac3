/**
 * The values of the language at run time. Bool, int, uint and plain text are JavaScript's own; the rest are the classes
 * below. A fault is a value as well: nothing is thrown, so that both sides of an operator are always visited.
 */
export type ExpressionValue =
  | boolean
  | bigint
  | string
  | FoldedText
  | NumberText
  | Instant
  | ListValue
  | MapValue
  | StructValue
  | Opaque

export type Result = ExpressionValue | Fault

/** `MissingField` is the documented one; the other names are ours (docs/protocol/policies.md#evaluating-a-policy). */
export type FaultKind =
  | 'MissingField'
  | 'TypeMismatch'
  | 'IndexOutOfRange'
  | 'NumberOutOfRange'
  | 'TooManySteps'
  | 'InvalidExpression'

/** Why an expression has no value, and at which stretch of its text. */
export class Fault {
  readonly kind: FaultKind
  readonly message: string
  readonly start: number
  readonly end: number

  constructor(kind: FaultKind, message: string, place: { readonly start: number; readonly end: number }) {
    this.kind = kind
    this.message = message
    this.start = place.start
    this.end = place.end
  }
}

/** A text of which several spellings are equal: hex text, the name of an activity. Slices and characters of it stay so. */
export class FoldedText {
  readonly text: string
  readonly fold: (text: string) => string
  #key: string | undefined

  constructor(text: string, fold: (text: string) => string) {
    this.text = text
    this.fold = fold
  }

  /** The canonical spelling of the text; computed when it is first needed, since most texts are only sliced. */
  get key(): string {
    this.#key ??= this.fold(this.text)
    return this.#key
  }
}

/** A number that also compares with its canonical decimal text (U-number, U-712-num). */
export class NumberText {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** A point in time. */
export class Instant {
  readonly nanoseconds: bigint

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds
  }
}

/** A list; `at` gives an element as a value of the language. */
export class ListValue {
  readonly items: readonly unknown[]
  readonly load: Loader

  constructor(items: readonly unknown[], load: Loader) {
    this.items = items
    this.load = load
  }
}

/** A map with text keys. */
export class MapValue {
  readonly entries: Readonly<Record<string, unknown>>
  readonly load: Loader

  constructor(entries: Readonly<Record<string, unknown>>, load: Loader) {
    this.entries = entries
    this.load = load
  }
}

/** A struct; its fields are found by the static type, which is always known. */
export class StructValue {
  /** Set again by who walks a list and lends one struct to a predicate after another; nobody else sets it. */
  fields: Readonly<Record<string, unknown>>

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.fields = fields
  }
}

/** A value that no operator takes, e.g. a fraction (U-float). */
export class Opaque {
  readonly what: string

  constructor(what: string) {
    this.what = what
  }
}

/** Turns what the context holds into a value; `place` is where the expression reads it. */
export type Loader = (raw: unknown, place: ReadPlace) => Result

/** Where a value is read: the stretch of text, and the whole text to quote it from. */
export interface ReadPlace {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** The text that a place stands for, as messages quote it. */
export function quoted({ text, start, end }: ReadPlace): string {
  return `\`${text.slice(start, end)}\``
}

/** Whether two values are equal; undefined when `==` does not take them (U-eqtypes, U-intuint, U-number). */
export function areEqual(a: ExpressionValue, b: ExpressionValue): boolean | undefined {
  if (typeof a === 'string') {
    if (typeof b === 'string') return a === b
    if (b instanceof FoldedText) return b.fold(a) === b.key
    return b instanceof NumberText ? b.value.toString() === a : undefined
  }
  if (typeof a === 'bigint') {
    if (typeof b === 'bigint') return a === b
    return b instanceof NumberText ? a === b.value : undefined
  }
  if (typeof a === 'boolean') return typeof b === 'boolean' ? a === b : undefined
  if (a instanceof FoldedText) {
    if (typeof b === 'string') return a.key === a.fold(b)
    if (b instanceof FoldedText) return a.key === a.fold(b.text)
    return b instanceof NumberText ? b.value.toString() === a.text : undefined
  }
  if (a instanceof NumberText) return b instanceof NumberText ? a.value === b.value : areEqual(b, a)
  if (a instanceof Instant) return b instanceof Instant ? a.nanoseconds === b.nanoseconds : undefined
  return undefined
}

/** Negative, zero or positive as `a` is below, equal to or above `b`; undefined when they have no order. */
export function compareOrder(a: ExpressionValue, b: ExpressionValue): number | undefined {
  const left = orderKey(a)
  const right = orderKey(b)
  if (left === undefined || right === undefined || a instanceof Instant !== b instanceof Instant) return undefined
  return left < right ? -1 : left > right ? 1 : 0
}

function orderKey(value: ExpressionValue): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (value instanceof NumberText) return value.value
  return value instanceof Instant ? value.nanoseconds : undefined
}

/** The number that a position or a bound stands for. */
export function asPosition(value: ExpressionValue): bigint | undefined {
  if (typeof value === 'bigint') return value
  return value instanceof NumberText ? value.value : undefined
}

/** What a value is called in messages. */
export function showKind(value: ExpressionValue): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'string' || value instanceof FoldedText) return 'string'
  if (value instanceof NumberText) return 'number'
  if (value instanceof Instant) return 'timestamp'
  if (value instanceof ListValue) return 'list'
  if (value instanceof MapValue) return 'map'
  return value instanceof StructValue ? 'struct' : value.what
}
