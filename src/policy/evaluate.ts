/**
 * Trees → closures → values. An expression is compiled once: names become slots, fields become loaders of their declared
 * type, literals become values. Evaluating it throws nothing and never stops early: both sides of `&&` and `||` and every
 * element of a list are visited, and the first fault in the order of the text is the result
 * (docs/protocol/policies.md#operators, U-err-consensus, U-err-lambda).
 */

import type { Expression } from './ast.ts'
import { isInSpan, parseCron, parseDuration } from './cron.ts'
import { fieldRow, isRootName, roots, type StructField } from './environment.ts'
import { compileDirect } from './fast/direct.ts'
import { compileQuantifier } from './fast/quantify.ts'
import { type Frame, rootReaders } from './frame.ts'
import { parseInstant } from './instant.ts'
import { STEPS_OF_CRON_SPAN, STEPS_OF_SLICE, stepsOfText } from './limits.ts'
import { asIs, loaderOf } from './load.ts'
import { compareOperators, logicOperators } from './operators.ts'
import {
  at,
  type Evaluate,
  mismatchAt,
  missingAt,
  notBool,
  notList,
  readerFor,
  type Scope,
  spend,
  spendOnText,
  tooManySteps,
  type Unit,
  undefinedAt,
} from './unit.ts'
import {
  areEqual,
  asPosition,
  type ExpressionValue,
  Fault,
  FoldedText,
  Instant,
  ListValue,
  MapValue,
  quoted,
  type ReadPlace,
  type Result,
  StructValue,
} from './values.ts'
import { openZone } from './zone.ts'

export type { Evaluate, Probe, Unit } from './unit.ts'

/** Compiles a tree that was checked without errors. */
export function compile(unit: Unit, node: Expression, scope: Scope | undefined): Evaluate {
  // A probe is told of every node; the direct forms evaluate several nodes at once.
  if (unit.probe !== undefined) return unit.probe(node, compileNode(unit, node, scope))
  return compileDirect(compile, unit, node, scope) ?? compileNode(unit, node, scope)
}

function compileNode(unit: Unit, node: Expression, scope: Scope | undefined): Evaluate {
  switch (node.kind) {
    case 'bool':
    case 'int':
    case 'string': {
      const { value } = node
      return () => value
    }
    case 'list':
      return compileList(unit, node, scope)
    case 'struct':
      return compileStruct(unit, node, scope)
    case 'name':
      return compileName(unit, node, scope)
    case 'call':
      return compileCall(unit, node)
    case 'member':
      return compileMember(unit, node, scope)
    case 'method':
      return compileMethod(unit, node, scope)
    case 'quantifier':
      return compileQuantifier(compile, unit, node, scope)
    case 'index':
      return compileIndex(unit, node, scope)
    case 'slice':
      return compileSlice(unit, node, scope)
    case 'not': {
      const operand = compile(unit, node.operand, scope)
      const place = at(unit, node.operand)
      return (frame) => {
        const value = operand(frame)
        return typeof value === 'boolean' ? !value : value instanceof Fault ? value : notBool(value, place)
      }
    }
    case 'compare':
      return compileCompare(unit, node, scope)
    case 'logic':
      return compileLogic(unit, node, scope)
    default:
      return node satisfies never
  }
}

function compileList(unit: Unit, node: Expression & { kind: 'list' }, scope: Scope | undefined): Evaluate {
  const literals = node.items.flatMap((item) => (item.kind === 'string' || item.kind === 'int' ? [item.value] : []))
  if (literals.length === node.items.length) {
    const constant = new ListValue(literals, asIs)
    return () => constant
  }
  const items = node.items.map((item) => compile(unit, item, scope))
  return (frame) => {
    const values: ExpressionValue[] = []
    let fault: Fault | undefined
    for (const item of items) {
      const value = item(frame)
      if (value instanceof Fault) fault ??= value
      else values.push(value)
    }
    return fault ?? new ListValue(values, asIs)
  }
}

function compileStruct(unit: Unit, node: Expression & { kind: 'struct' }, scope: Scope | undefined): Evaluate {
  const fields = node.fields.map(({ name, value }) => ({ name: name.text, value: compile(unit, value, scope) }))
  return (frame) => {
    const values: [string, ExpressionValue][] = []
    let fault: Fault | undefined
    for (const { name, value } of fields) {
      const result = value(frame)
      if (result instanceof Fault) fault ??= result
      else values.push([name, result])
    }
    return fault ?? new StructValue(Object.fromEntries(values))
  }
}

function compileName(unit: Unit, node: Expression & { kind: 'name' }, scope: Scope | undefined): Evaluate {
  const { name } = node
  for (let variable = scope; variable !== undefined; variable = variable.outer)
    if (variable.name === name) {
      const cell = variable.variable
      return () => cell.value!
    }
  const place = at(unit, node)
  if (!isRootName(name)) return constant(new Fault('InvalidExpression', `unknown name ${quoted(place)}`, place))
  const load = loaderOf(roots[name].type)
  const missing = undefinedAt(place)
  const read = rootReaders[name]
  return (frame) => {
    const raw = read(frame)
    return raw === undefined || raw === null ? missing : load(raw, place)
  }
}

/** Compiles a function. Its arguments are literals that the checker has validated (U-literal-args). */
function compileCall(unit: Unit, node: Expression & { kind: 'call' }): Evaluate {
  const [first = '', second = '', third = ''] = node.args.map((arg) => (arg.kind === 'string' ? arg.value : ''))
  const place = at(unit, node)
  const invalid = constant(new Fault('InvalidExpression', `${quoted(place)} cannot be read`, place))
  if (node.name.text === 'Timestamp') {
    const instant = parseInstant(first)
    return 'wrong' in instant ? invalid : constant(new Instant(instant.nanoseconds))
  }
  const cron = parseCron(first)
  const duration = parseDuration(second)
  const zone = openZone(third)
  if ('wrong' in cron || 'wrong' in duration || 'wrong' in zone) return invalid
  const span = {}
  return (frame) => {
    const { spans } = frame.budget
    const known = spans.get(span)
    if (known !== undefined) return known
    if (!spend(frame, STEPS_OF_CRON_SPAN)) return tooManySteps(place)
    const inSpan = isInSpan(frame.context.now, cron, duration.milliseconds, zone)
    spans.set(span, inSpan)
    return inSpan
  }
}

function compileMember(unit: Unit, node: Expression & { kind: 'member' }, scope: Scope | undefined): Evaluate {
  const target = compile(unit, node.target, scope)
  const type = unit.types.get(node.target)
  const place = at(unit, node)
  const missing = missingAt(place)
  if (type?.kind === 'struct') {
    const row = fieldRow(type.name, node.name.text)
    return row === undefined ? readFrom(target, missing) : readField(target, row, place, missing)
  }
  if (type?.kind === 'record') {
    const name = node.name.text
    return (frame) => {
      const value = target(frame)
      return value instanceof StructValue ? (value.fields[name] as ExpressionValue) : value
    }
  }
  if (node.name.text === 'count') return compileCount(unit, target, node)
  const noFields = new Fault('TypeMismatch', `${quoted(at(unit, node.target))} has no fields to read with \`.\``, place)
  return readFrom(target, noFields)
}

/** Gives the fault, unless the target has a fault itself, which comes first. */
function readFrom(target: Evaluate, fault: Fault): Evaluate {
  return (frame) => {
    const value = target(frame)
    return value instanceof Fault ? value : fault
  }
}

function readField(target: Evaluate, row: StructField, place: ReadPlace, missing: Fault): Evaluate {
  const load = loaderOf(row.type)
  const read = readerFor(row.type, load, place)
  const name = row.reads ?? row.name
  const { absent } = row
  return (frame) => {
    const value = target(frame)
    if (!(value instanceof StructValue)) return value
    const raw = Object.hasOwn(value.fields, name) ? value.fields[name] : undefined
    if (raw !== undefined && raw !== null) return read(frame, raw)
    return absent === undefined ? missing : load(absent, place)
  }
}

function compileMethod(unit: Unit, node: Expression & { kind: 'method' }, scope: Scope | undefined): Evaluate {
  const target = compile(unit, node.target, scope)
  if (node.name.text === 'count') return compileCount(unit, target, node)
  const value = compile(unit, node.args[0]!, scope)
  return compileMembership(unit, value, target, node, { value: node.args[0]!, list: node.target }, 'list first')
}

function compileCount(unit: Unit, target: Evaluate, node: Expression & { kind: 'member' | 'method' }): Evaluate {
  const place = at(unit, node.target)
  return (frame) => {
    const value = target(frame)
    if (value instanceof Fault) return value
    return value instanceof ListValue ? BigInt(value.items.length) : notList(value, place)
  }
}

/** `x in list` and `list.contains(x)`; of two faults the one that stands first in the text is the result. */
function compileMembership(
  unit: Unit,
  left: Evaluate,
  right: Evaluate,
  node: Expression,
  operands: { readonly value: Expression; readonly list: Expression },
  order: 'value first' | 'list first',
): Evaluate {
  const place = at(unit, node)
  const listPlace = at(unit, operands.list)
  const mismatch = mismatchAt(place)
  return (frame) => {
    const value = left(frame)
    const list = right(frame)
    if (order === 'list first' && list instanceof Fault) return list
    if (value instanceof Fault) return value
    if (list instanceof Fault) return list
    if (!(list instanceof ListValue)) return notList(list, listPlace)
    if (!spend(frame, list.items.length)) return tooManySteps(place)
    let found = false
    for (const item of list.items) {
      const element = list.load(item, listPlace)
      if (element instanceof Fault) return element
      if (!spendOnText(frame, element)) return tooManySteps(place)
      const equal = areEqual(value, element)
      if (equal === undefined) return mismatch(value, element)
      found ||= equal
    }
    return found
  }
}

function compileIndex(unit: Unit, node: Expression & { kind: 'index' }, scope: Scope | undefined): Evaluate {
  const target = compile(unit, node.target, scope)
  const index = compile(unit, node.index, scope)
  const place = at(unit, node)
  const missing = missingAt(place)
  const outside = new Fault('IndexOutOfRange', `${quoted(place)} is outside of the value`, place)
  const element = (frame: Frame, read: Result) => (spendOnText(frame, read) ? read : tooManySteps(place))
  return (frame) => {
    const value = target(frame)
    const key = index(frame)
    if (value instanceof Fault) return value
    if (key instanceof Fault) return key
    if (value instanceof MapValue) {
      const name = typeof key === 'string' ? key : key instanceof FoldedText ? key.text : undefined
      if (name === undefined) return mismatchAt(place)(value, key)
      const raw = Object.hasOwn(value.entries, name) ? value.entries[name] : undefined
      return raw === undefined || raw === null ? missing : element(frame, value.load(raw, place))
    }
    const position = asPosition(key)
    if (position === undefined) return mismatchAt(place)(value, key)
    if (value instanceof ListValue) {
      if (position < 0n || position >= BigInt(value.items.length)) return outside
      const item = value.items[Number(position)]
      return item === undefined || item === null ? missing : element(frame, value.load(item, place))
    }
    const text = textOf(value)
    if (text === undefined) return mismatchAt(place)(value, key)
    const end = clamp(position + 1n, text.length)
    if (!spend(frame, STEPS_OF_SLICE + stepsOfText(end))) return tooManySteps(place)
    const character = position < 0n ? '' : sliceCodePoints(text, end - 1, end)
    return position >= BigInt(text.length) || character === '' ? outside : sameKind(value, character)
  }
}

/** Both bounds are clamped to the length (U-slice-oob); positions of a text are code points (U-charunit). */
function compileSlice(unit: Unit, node: Expression & { kind: 'slice' }, scope: Scope | undefined): Evaluate {
  const target = compile(unit, node.target, scope)
  const lower = compile(unit, node.from, scope)
  const upper = compile(unit, node.to, scope)
  const place = at(unit, node)
  const outside = new Fault('IndexOutOfRange', `${quoted(place)} has a negative bound or ends before it starts`, place)
  return (frame) => {
    const value = target(frame)
    const a = lower(frame)
    const b = upper(frame)
    if (value instanceof Fault) return value
    if (a instanceof Fault) return a
    if (b instanceof Fault) return b
    const from = asPosition(a)
    const to = asPosition(b)
    if (from === undefined) return mismatchAt(place)(value, a)
    if (to === undefined) return mismatchAt(place)(value, b)
    const text = textOf(value)
    const whole = value instanceof ListValue ? value.items : text
    if (whole === undefined) return mismatchAt(place)(value, a)
    if (from < 0n || from > to) return outside
    const start = clamp(from, whole.length)
    const end = clamp(to, whole.length)
    // A list is copied; a text is read up to where the slice ends, to find where its code points are.
    if (!spend(frame, STEPS_OF_SLICE + (typeof whole === 'string' ? stepsOfText(end) : end - start)))
      return tooManySteps(place)
    if (value instanceof ListValue) return new ListValue(value.items.slice(start, end), value.load)
    return sameKind(value, sliceCodePoints(text!, start, end))
  }
}

function compileCompare(unit: Unit, node: Expression & { kind: 'compare' }, scope: Scope | undefined): Evaluate {
  const left = compile(unit, node.left, scope)
  const right = compile(unit, node.right, scope)
  if (node.operator === 'in')
    return compileMembership(unit, left, right, node, { value: node.left, list: node.right }, 'value first')
  const { evaluate } = compareOperators[node.operator]
  const place = at(unit, node)
  const mismatch = mismatchAt(place)
  return (frame) => {
    const a = left(frame)
    const b = right(frame)
    if (a instanceof Fault) return a
    if (b instanceof Fault) return b
    if (!spendOnText(frame, a) || !spendOnText(frame, b)) return tooManySteps(place)
    return evaluate(a, b) ?? mismatch(a, b)
  }
}

function compileLogic(unit: Unit, node: Expression & { kind: 'logic' }, scope: Scope | undefined): Evaluate {
  const operands = node.operands.map((operand) => compile(unit, operand, scope))
  const places = node.operands.map((operand) => at(unit, operand))
  const { settledBy } = logicOperators[node.operator]
  const otherwise = !settledBy
  const join = (results: readonly Result[]): boolean | Fault => {
    let settled = false
    let fault: Fault | undefined
    for (let i = 0; i < results.length; i++) {
      const result = results[i]!
      if (result === settledBy) settled = true
      else if (typeof result !== 'boolean') fault ??= result instanceof Fault ? result : notBool(result, places[i]!)
    }
    return fault ?? settled === settledBy
  }
  // Written out for the usual lengths: walking a list of operands costs as much as they do.
  const [first, second, third, fourth] = operands as [Evaluate, Evaluate, Evaluate?, Evaluate?]
  if (third === undefined)
    return (frame) => {
      const a = first(frame)
      const b = second(frame)
      return a === otherwise && b === otherwise ? otherwise : isBool(a) && isBool(b) ? settledBy : join([a, b])
    }
  if (fourth === undefined)
    return (frame) => {
      const a = first(frame)
      const b = second(frame)
      const c = third(frame)
      return a === otherwise && b === otherwise && c === otherwise
        ? otherwise
        : isBool(a) && isBool(b) && isBool(c)
          ? settledBy
          : join([a, b, c])
    }
  if (operands.length === 4)
    return (frame) => {
      const a = first(frame)
      const b = second(frame)
      const c = third(frame)
      const d = fourth(frame)
      return a === otherwise && b === otherwise && c === otherwise && d === otherwise
        ? otherwise
        : isBool(a) && isBool(b) && isBool(c) && isBool(d)
          ? settledBy
          : join([a, b, c, d])
    }
  return (frame) => {
    const results: Result[] = []
    for (let i = 0; i < operands.length; i++) results.push(operands[i]!(frame))
    return join(results)
  }
}

function isBool(result: Result): result is boolean {
  return result === true || result === false
}

function constant(value: Result): Evaluate {
  return () => value
}

function textOf(value: ExpressionValue): string | undefined {
  return typeof value === 'string' ? value : value instanceof FoldedText ? value.text : undefined
}

/** A piece of a text folds as the whole does (U-hexcase). */
function sameKind(whole: ExpressionValue, piece: string): ExpressionValue {
  return whole instanceof FoldedText ? new FoldedText(piece, whole.fold) : piece
}

const SURROGATE = /[\ud800-\udfff]/

/**
 * The code points of a text from one position to another, neither above its length in UTF-16 units. Nothing is read
 * beyond the last of them.
 */
function sliceCodePoints(text: string, start: number, end: number): string {
  // Where there are no surrogates, code points are units.
  if (!SURROGATE.test(text.slice(0, end))) return text.slice(start, end)
  let position = 0
  let unit = 0
  let first = text.length
  for (; position < end && unit < text.length; position++) {
    if (position === start) first = unit
    unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  }
  return text.slice(first, unit)
}

function clamp(position: bigint, length: number): number {
  return position > BigInt(length) ? length : Number(position)
}
