/**
 * A trace: what each clause of an expression came to, with the values of its operands, and which of them made the
 * difference.
 *
 * Terms. A *visit* is one evaluation of one node; a predicate is visited once for each element. A *clause* is a visit of
 * a node that decides something: `&&`, `||`, `!`, a comparison, `all`, `any`, `filter`, `contains`, `CronSpan`, or
 * whatever stands where a clause is expected. A clause is *decisive* when the outcome follows from it: of a false `&&`
 * the operands that are false, of a true one all of them; of a fault, where it arose.
 */
import type { Expression } from './ast.ts'
import type { Probe } from './evaluate.ts'
import { wholeExtent } from './extent.ts'
import { type NameOf, type ShownValue, showValue } from './show-value.ts'
import { Fault, ListValue, type Result } from './values.ts'

export type { ShownValue } from './show-value.ts'

/** The value of a clause. */
export interface Clause {
  /** Its text, without the parentheses around it. */
  readonly text: string
  /** Offsets in the text of the field. */
  readonly start: number
  readonly end: number
  /** Its value: a bool, or the list that `filter` keeps. Absent when it erred. */
  readonly value?: ShownValue
  readonly error?: { readonly kind: string; readonly message: string }
  /** Of a predicate: the element that it was evaluated for. */
  readonly element?: { readonly name: string; readonly index: number; readonly value: ShownValue }
  /** What it was made from; literals say themselves. */
  readonly operands: readonly Operand[]
  readonly clauses: readonly Clause[]
  /** Whether the outcome of the whole follows from it. */
  readonly decisive: boolean
}

/** An operand with its value; absent when reading it erred. */
export interface Operand {
  readonly text: string
  readonly value?: ShownValue
}

interface Visit {
  readonly node: Expression
  result: Result | undefined
  readonly inner: Visit[]
}

/** Visits kept of one evaluation; what comes after them is evaluated and not recorded. */
const MOST_VISITS = 20_000

/** Records the visits of one expression. */
export interface Recorder {
  readonly probe: Probe
  /** The clause tree of the last evaluation; undefined when there was none. */
  clause(text: string, nameOf: NameOf): Clause | undefined
}

/** Creates a recorder. */
export function createRecorder(): Recorder {
  let root: Visit | undefined
  let path: Visit[] = []
  let left = MOST_VISITS
  return {
    probe: (node, evaluate) => (frame) => {
      const visit: Visit = { node, result: undefined, inner: [] }
      const parent = path.at(-1)
      if (parent === undefined) {
        root = visit
        left = MOST_VISITS
      } else if (left > 0) parent.inner.push(visit)
      left--
      path.push(visit)
      const result = evaluate(frame)
      path.pop()
      visit.result = result
      return result
    },
    clause(text, nameOf) {
      const visit = root
      root = undefined
      path = []
      return visit === undefined ? undefined : toClause({ text, nameOf, decisive: decisiveVisits(visit) }, visit)
    },
  }
}

/** The decisive visits, from the whole down to where the outcome arose. */
function decisiveVisits(root: Visit): ReadonlySet<Visit> {
  const decisive = new Set<Visit>()
  const mark = (visit: Visit): void => {
    decisive.add(visit)
    for (const inner of decisiveInside(visit)) mark(inner)
  }
  mark(root)
  return decisive
}

function decisiveInside({ node, result, inner }: Visit): readonly Visit[] {
  // A fault is handed on as it is, so it arose where it is met first.
  if (result instanceof Fault) return inner.filter((each) => each.result === result).slice(0, 1)
  switch (node.kind) {
    case 'logic': {
      const holdsAlone = node.operator === '||'
      return result === holdsAlone ? inner.filter((each) => each.result === result) : inner
    }
    case 'not':
      return inner
    case 'quantifier': {
      const predicates = inner.filter((each) => each.node === node.predicate)
      if (node.method === 'filter') return []
      return result === (node.method === 'any') ? predicates.filter((each) => each.result === result) : predicates
    }
    default:
      return []
  }
}

interface View {
  readonly text: string
  readonly nameOf: NameOf
  readonly decisive: ReadonlySet<Visit>
}

function toClause(view: View, visit: Visit, element?: Clause['element']): Clause {
  const { node, result } = visit
  const { start, end } = wholeExtent(view.text, node)
  return {
    text: view.text.slice(start, end),
    start,
    end,
    ...(result === undefined
      ? {}
      : result instanceof Fault
        ? { error: { kind: result.kind, message: result.message } }
        : { value: showValue(result, view.nameOf) }),
    ...(element === undefined ? {} : { element }),
    operands: operandsOf(view, visit),
    clauses: node.kind === 'quantifier' ? quantified(view, visit) : clausesInside(view, visit),
    decisive: view.decisive.has(visit),
  }
}

/** A predicate's clauses, one an element, after those inside of the list it is applied to. */
function quantified(view: View, visit: Visit): readonly Clause[] {
  const { node } = visit
  if (node.kind !== 'quantifier') return []
  const target = visit.inner.find((each) => each.node === node.target)
  const predicates = visit.inner.filter((each) => each.node === node.predicate)
  const list = target?.result
  const place = { text: view.text, start: node.target.start, end: node.target.end }
  // Elements that cannot be loaded are faults of the list, and no predicate is evaluated for them.
  const elements =
    list instanceof ListValue
      ? list.items.flatMap((item, index) => {
          const value = list.load(item, place)
          return value instanceof Fault ? [] : [{ index, value }]
        })
      : []
  return [
    ...(target === undefined ? [] : clausesIn(view, target)),
    ...predicates.map((each, at) => {
      const element = elements[at]
      return toClause(
        view,
        each,
        element && {
          name: node.variable.text,
          index: element.index,
          value: showValue(element.value, view.nameOf),
        },
      )
    }),
  ]
}

function clausesInside(view: View, visit: Visit): readonly Clause[] {
  const { kind } = visit.node
  // An operand of these is a clause, whatever it looks like: `wallet.imported`.
  if (kind === 'logic' || kind === 'not') return visit.inner.map((each) => toClause(view, each))
  return visit.inner.flatMap((each) => clausesIn(view, each))
}

/** The clauses at or below a visit that is no clause's operand by its place. */
function clausesIn(view: View, visit: Visit): readonly Clause[] {
  return isClause(visit.node) ? [toClause(view, visit)] : visit.inner.flatMap((each) => clausesIn(view, each))
}

function isClause(node: Expression): boolean {
  switch (node.kind) {
    case 'logic':
    case 'not':
    case 'compare':
    case 'quantifier':
    case 'call':
      return node.kind !== 'call' || node.name.text === 'CronSpan'
    case 'method':
      return node.name.text === 'contains'
    default:
      return false
  }
}

function operandsOf(view: View, { node, inner }: Visit): readonly Operand[] {
  const operands = operandNodes(node).filter((operand) => !isLiteral(operand))
  return operands.flatMap((operand) => {
    const visit = inner.find((each) => each.node === operand)
    if (visit?.result === undefined) return []
    const extent = wholeExtent(view.text, operand)
    const text = view.text.slice(extent.start, extent.end)
    return [visit.result instanceof Fault ? { text } : { text, value: showValue(visit.result, view.nameOf) }]
  })
}

function operandNodes(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'compare':
      return [node.left, node.right]
    case 'method':
      return [node.target, ...node.args]
    case 'quantifier':
      return [node.target]
    default:
      return []
  }
}

function isLiteral(node: Expression): boolean {
  return (
    node.kind === 'bool' ||
    node.kind === 'int' ||
    node.kind === 'string' ||
    (node.kind === 'call' && node.name.text === 'Timestamp') ||
    (node.kind === 'list' && node.items.every(isLiteral))
  )
}
