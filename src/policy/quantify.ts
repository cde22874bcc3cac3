/**
 * What walks lists: `all`, `any`, `filter` and counting. The predicate is evaluated for every element, and a fault for
 * any of them is the result (U-err-lambda). What is only counted is not gathered.
 */
import { type CompareSymbol, type Expression, type Quantifier, sizeOf } from './ast.ts'
import { interned, textTests } from './compare-literal.ts'
import type { Frame } from './frame.ts'
import { asIs, isPlainObject, loaderOf } from './load.ts'
import { readerOf } from './read-path.ts'
import { any } from './types.ts'
import {
  at,
  type Compile,
  type Evaluate,
  notBool,
  notList,
  type Scope,
  spend,
  tooManySteps,
  type Unit,
  within,
} from './unit.ts'
import { Fault, ListValue, StructValue } from './values.ts'

/** Compiles a quantifier. */
export function compileQuantifier(compile: Compile, unit: Unit, node: Quantifier, scope: Scope | undefined): Evaluate {
  const list = compileList(compile, unit, node.target, scope)
  const count = compileHolding(compile, unit, node, scope)
  switch (node.method) {
    case 'all':
      return (frame) => {
        const value = list(frame)
        if (value instanceof Fault) return value
        const holding = count(frame, value, undefined)
        return holding instanceof Fault ? holding : holding === itemsOf(value).length
      }
    case 'any':
      return (frame) => {
        const value = list(frame)
        if (value instanceof Fault) return value
        const holding = count(frame, value, undefined)
        return holding instanceof Fault ? holding : holding > 0
      }
    case 'filter': {
      const evaluate = compile(unit, node.target, scope)
      const place = at(unit, node.target)
      return (frame) => {
        const value = evaluate(frame)
        if (value instanceof Fault) return value
        if (!(value instanceof ListValue)) return notList(value, place)
        const kept: unknown[] = []
        const holding = count(frame, value, kept)
        return holding instanceof Fault ? holding : new ListValue(kept, value.load)
      }
    }
    default:
      return node.method satisfies never
  }
}

/** What is walked: a list, or the array of a path whose type says how its elements are loaded. */
type Walked = ListValue | readonly unknown[]

function itemsOf(walked: Walked): readonly unknown[] {
  return walked instanceof ListValue ? walked.items : walked
}

function compileList(
  compile: Compile,
  unit: Unit,
  node: Expression,
  scope: Scope | undefined,
): (frame: Frame) => Walked | Fault {
  const path = unit.probe === undefined ? readerOf(unit, node, scope) : undefined
  if (path?.type.kind === 'list') {
    const { read, quick, place, type } = path
    const load = loaderOf(type)
    return (frame) => {
      const found = quick(frame)
      if (Array.isArray(found)) return found
      const raw = read(frame)
      if (Array.isArray(raw)) return raw
      return raw instanceof Fault ? raw : (load(raw, place) as Fault)
    }
  }
  const evaluate = compile(unit, node, scope)
  const place = at(unit, node)
  return (frame) => {
    const value = evaluate(frame)
    return value instanceof ListValue || value instanceof Fault ? value : notList(value, place)
  }
}

/** How many elements satisfy the predicate; those that do are added to `kept`. */
function compileHolding(
  compile: Compile,
  unit: Unit,
  node: Quantifier,
  scope: Scope | undefined,
): (frame: Frame, walked: Walked, kept: unknown[] | undefined) => number | Fault {
  const inner = within(node, scope)
  const predicate = compile(unit, node.predicate, inner)
  const { variable } = inner
  const cost = sizeOf(node.predicate)
  const place = at(unit, node)
  const targetPlace = at(unit, node.target)
  const predicatePlace = at(unit, node.predicate)
  const type = unit.types.get(node.target)
  const loadElement = loaderOf(type?.kind === 'list' ? type.element : any)
  // A predicate keeps nothing of its element, unless somebody looks on: one struct serves for all.
  const lent =
    unit.probe === undefined && type?.kind === 'list' && type.element.kind === 'struct'
      ? new StructValue({})
      : undefined
  return (frame, walked, kept) => {
    const items = itemsOf(walked)
    const load = walked instanceof ListValue ? walked.load : loadElement
    let holding = 0
    let fault: Fault | undefined
    for (let i = 0; i < items.length; i++) {
      if (!spend(frame, cost)) return tooManySteps(place)
      const item = items[i]
      if (lent !== undefined && load !== asIs && isPlainObject(item)) {
        lent.fields = item
        variable.value = lent
      } else {
        const element = load(item, targetPlace)
        if (element instanceof Fault) {
          fault ??= element
          continue
        }
        variable.value = element
      }
      const holds = predicate(frame)
      if (holds === true) {
        holding++
        kept?.push(item)
      } else if (holds !== false) fault ??= holds instanceof Fault ? holds : notBool(holds, predicatePlace)
    }
    return fault ?? holding
  }
}

const countTests: Readonly<Record<Exclude<CompareSymbol, 'in'>, (count: number, literal: number) => boolean>> = {
  '==': (count, literal) => count === literal,
  '!=': (count, literal) => count !== literal,
  '<': (count, literal) => count < literal,
  '<=': (count, literal) => count <= literal,
  '>': (count, literal) => count > literal,
  '>=': (count, literal) => count >= literal,
}

/** `list.count() >= 2` in plain numbers; undefined for any other comparison. */
export function compileCountCompare(
  compile: Compile,
  unit: Unit,
  { left, right, operator }: Expression & { kind: 'compare' },
  scope: Scope | undefined,
): Evaluate | undefined {
  if (operator === 'in' || right.kind !== 'int' || right.value < 0n || right.value > 1_000_000n) return undefined
  if (left.kind !== 'method' || left.name.text !== 'count') return undefined
  const literal = Number(right.value)
  const test = countTests[operator]
  const { target } = left
  const isFilter = target.kind === 'quantifier' && target.method === 'filter'
  const list = compileList(compile, unit, isFilter ? target.target : target, scope)
  const holding = isFilter ? compileHolding(compile, unit, target, scope) : undefined
  return (frame) => {
    const value = list(frame)
    if (value instanceof Fault) return value
    const count = holding === undefined ? itemsOf(value).length : holding(frame, value, undefined)
    return count instanceof Fault ? count : test(count, literal)
  }
}

/** `user.tags.contains('a')`; undefined for any other membership. */
export function compileContainsLiteral(
  unit: Unit,
  list: Expression,
  value: Expression,
  scope: Scope | undefined,
): Evaluate | undefined {
  if (value.kind !== 'string') return undefined
  const path = readerOf(unit, list, scope)
  if (path?.type.kind !== 'list' || path.type.element.kind !== 'string') return undefined
  const { read, quick, place, type } = path
  const { element } = path.type
  const literal = interned(value.value)
  const isSame = textTests[element.letters](literal)
  const isExact = element.letters === 'exact'
  const load = loaderOf(type)
  const loadItem = loaderOf(element)
  return (frame) => {
    let raw = quick(frame)
    if (!Array.isArray(raw)) {
      raw = read(frame)
      if (raw instanceof Fault) return raw
      if (!Array.isArray(raw)) return load(raw, place)
    }
    if (!spend(frame, raw.length)) return tooManySteps(place)
    let found = false
    for (let i = 0; i < raw.length; i++) {
      const item: unknown = raw[i]
      if (typeof item !== 'string') return loadItem(item, place)
      if (item === literal || (!isExact && isSame(item))) found = true
    }
    return found
  }
}
