/**
 * What walks lists: `all`, `any`, `filter` and counting. The predicate is evaluated for every element, and a fault for
 * any of them is the result (U-err-lambda). What is only counted is not gathered.
 */
import { type CompareSymbol, type Expression, type Quantifier, sizeOf } from '../ast.ts'
import type { Frame } from '../frame.ts'
import { asIs, isPlainObject, loaderOf } from '../load.ts'
import { any } from '../types.ts'
import {
  at,
  type Compile,
  type Evaluate,
  notBool,
  notList,
  type Scope,
  spend,
  spendOnText,
  tooManySteps,
  type Unit,
  within,
} from '../unit.ts'
import { Fault, ListValue, StructValue } from '../values.ts'
import { interned, textTests } from './compare-literal.ts'
import { readerOf } from './read-path.ts'

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
    case 'any': {
      const counted = compileTagged(unit, node, scope)
      return (frame) => {
        const quickly = counted?.(frame)
        if (quickly !== undefined) return quickly > 0
        const value = list(frame)
        if (value instanceof Fault) return value
        const holding = count(frame, value, undefined)
        return holding instanceof Fault ? holding : holding > 0
      }
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
  // A predicate keeps nothing of its element unless a probe does: one struct serves for all elements.
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
        if (!spendOnText(frame, element)) return tooManySteps(place)
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

/**
 * `voters.filter(u, u.tags.contains('a'))`, which is how nearly every consensus is written, in one walk: how many there
 * are. Undefined where anything is not as declared, an absent field too; then the general way says what is to be said.
 */
function compileTagged(
  unit: Unit,
  node: Quantifier,
  scope: Scope | undefined,
): ((frame: Frame) => number | undefined) | undefined {
  const { predicate } = node
  if (unit.probe !== undefined || predicate.kind !== 'method' || predicate.name.text !== 'contains') return undefined
  const [value] = predicate.args
  const voters = readerOf(unit, node.target, scope)
  const tags = readerOf(unit, predicate.target, within(node, scope))
  if (value?.kind !== 'string' || voters?.type.kind !== 'list' || tags?.field === undefined) return undefined
  if (tags.type.kind !== 'list' || tags.type.element.kind !== 'string' || tags.type.element.letters !== 'exact')
    return undefined
  const { quick } = voters
  const { field } = tags
  if (predicate.target.kind !== 'member' || !isVariableOf(predicate.target.target, node)) return undefined
  const literal = interned(value.value)
  const cost = sizeOf(predicate)
  return (frame) => {
    const items = quick(frame)
    if (!Array.isArray(items)) return undefined
    let { steps } = frame
    let holding = 0
    for (let i = 0; i < items.length; i++) {
      const texts = field(items[i] as never)
      if (!Array.isArray(texts)) return undefined
      steps -= cost + texts.length
      let found = false
      for (let j = 0; j < texts.length; j++) {
        const text: unknown = texts[j]
        if (typeof text !== 'string') return undefined
        if (text === literal) found = true
      }
      if (found) holding++
    }
    if (steps < 0) return undefined
    frame.steps = steps
    return holding
  }
}

function isVariableOf(node: Expression, { variable }: Quantifier): boolean {
  return node.kind === 'name' && node.name === variable.text
}

/** The lengths from the first to the second satisfy a comparison; those outside of them when it is an inequality. */
function lengthsOf(operator: Exclude<CompareSymbol, 'in'>, literal: number): readonly [least: number, most: number] {
  switch (operator) {
    case '==':
    case '!=':
      return [literal, literal]
    case '<':
      return [0, literal - 1]
    case '<=':
      return [0, literal]
    case '>':
      return [literal + 1, Number.MAX_SAFE_INTEGER]
    case '>=':
      return [literal, Number.MAX_SAFE_INTEGER]
    default:
      return operator satisfies never
  }
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
  const [least, most] = lengthsOf(operator, Number(right.value))
  const inside = operator !== '!='
  const { target } = left
  const isFilter = target.kind === 'quantifier' && target.method === 'filter'
  const list = compileList(compile, unit, isFilter ? target.target : target, scope)
  const holding = isFilter ? compileHolding(compile, unit, target, scope) : undefined
  const counted = isFilter ? compileTagged(unit, target, scope) : undefined
  return (frame) => {
    let count: number | Fault | undefined = counted?.(frame)
    if (count === undefined) {
      const value = list(frame)
      if (value instanceof Fault) return value
      count = holding === undefined ? itemsOf(value).length : holding(frame, value, undefined)
      if (count instanceof Fault) return count
    }
    return (count >= least && count <= most) === inside
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
