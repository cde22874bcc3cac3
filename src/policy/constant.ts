/**
 * Clauses with the same value on every request: those that read nothing of the request (`1 == 1`), that compare a value
 * with itself or with what its type cannot hold (`approvers.count() >= 0`), and comparisons that exclude each other or
 * leave nothing out (`x > 5 && x < 5`, `x == 'a' || x != 'a'`). They are warnings: the service takes them.
 *
 * `true` as the whole of a field is no mistake, it is how one says "anybody" (docs/protocol/policies.md#a-policy).
 */
import { childrenOf, type Expression } from './ast.ts'
import { compile } from './evaluate.ts'
import { createFrame } from './frame.ts'
import { INT_MAX, INT_MIN, UINT_MAX } from './limits.ts'
import { foldActivityName, foldHex } from './load.ts'
import { print } from './print.ts'
import { type PolicyProblem, problem } from './problem.ts'
import type { Type } from './types.ts'
import type { Unit } from './unit.ts'

/** Steps that are spent on what reads nothing of the request; beyond them nothing is said. */
const STEPS = 10_000

/** The clauses of a checked tree that are constant; of one inside of another the outer is told. */
export function constantProblems(unit: Unit, tree: Expression): readonly PolicyProblem[] {
  if (tree.kind === 'bool') return []
  const found = constantOf(unit, tree)
  return found ?? childrenOf(tree).flatMap((child) => constantProblems(unit, child))
}

function constantOf(unit: Unit, node: Expression): readonly PolicyProblem[] | undefined {
  if (unit.types.get(node)?.kind !== 'bool') return undefined
  const always = isClosed(node, new Set()) ? closedValue(unit, node) : undefined
  if (always !== undefined) return [alwaysProblem(node, always)]
  if (node.kind === 'compare') {
    const value = comparedValue(unit, node)
    return value === undefined ? undefined : [alwaysProblem(node, value)]
  }
  if (node.kind !== 'logic') return undefined
  const literal = node.operands.find((operand) => operand.kind === 'bool')
  if (literal !== undefined) {
    const isSettled = literal.value === (node.operator === '||')
    const message = isSettled
      ? `\`${node.operator} ${literal.value}\` leaves nothing to the other clauses`
      : `\`${node.operator} ${literal.value}\` changes nothing`
    return [constant(literal, message)]
  }
  return excludingPair(unit, node)
}

function alwaysProblem(node: Expression, value: boolean): PolicyProblem {
  return constant(node, `\`${print(node)}\` is always ${value}`)
}

function constant(node: Expression, message: string): PolicyProblem {
  return problem('policy/constant', message, node, { severity: 'warning' })
}

/** Whether an expression reads nothing but literals and its own variables. */
function isClosed(node: Expression, variables: ReadonlySet<string>): boolean {
  if (node.kind === 'name') return variables.has(node.name)
  if (node.kind === 'call') return node.name.text === 'Timestamp'
  if (node.kind === 'quantifier')
    return isClosed(node.target, variables) && isClosed(node.predicate, new Set([...variables, node.variable.text]))
  return childrenOf(node).every((child) => isClosed(child, variables))
}

/** The value of a closed expression; undefined if evaluating it fails, which other rules report. */
function closedValue(unit: Unit, node: Expression): boolean | undefined {
  if (node.kind === 'bool') return undefined
  const frame = createFrame({ now: 0n, activity: { type: '' }, approvers: [] })
  frame.steps = STEPS
  const value = compile(unit, node, undefined)(frame)
  return typeof value === 'boolean' ? value : undefined
}

/** Numbers from `least` to `most`. */
interface Range {
  readonly least: bigint
  readonly most: bigint
}

/** The demand of a comparison on a value: a range of numbers, or to be (or not to be) one of some texts. */
type Demand =
  | { readonly kind: 'number'; readonly range: Range }
  | { readonly kind: 'text'; readonly texts: ReadonlySet<string>; readonly within: boolean }

interface Clause {
  readonly value: Expression
  readonly demand: Demand
}

function comparedValue(unit: Unit, node: Expression & { kind: 'compare' }): boolean | undefined {
  if (node.operator !== 'in' && print(node.left) === print(node.right))
    return node.operator === '==' || node.operator === '<=' || node.operator === '>='
  const clause = clauseOf(unit, node)
  if (clause?.demand.kind !== 'number') return undefined
  const held = heldBy(unit, clause.value)
  if (held === undefined) return undefined
  const { range } = clause.demand
  const overlap = overlapOf(range, held)
  if (overlap === undefined) return false
  return overlap.least === held.least && overlap.most === held.most ? true : undefined
}

/** The range of a value by its type; a length is never negative. */
function heldBy(unit: Unit, node: Expression): Range | undefined {
  const isCount = (node.kind === 'method' || node.kind === 'member') && node.name.text === 'count'
  const type = unit.types.get(node)
  if (type?.kind === 'uint') return { least: 0n, most: UINT_MAX }
  return type?.kind === 'int' ? { least: isCount ? 0n : INT_MIN, most: INT_MAX } : undefined
}

function overlapOf(a: Range, b: Range): Range | undefined {
  let { least, most } = a
  if (b.least > least) least = b.least
  if (b.most < most) most = b.most
  return least > most ? undefined : { least, most }
}

/** Two operands that exclude each other in an `&&`, or that leave nothing out in an `||`. */
function excludingPair(
  unit: Unit,
  { operator, operands }: Expression & { kind: 'logic' },
): readonly PolicyProblem[] | undefined {
  const known = new Map<string, { readonly node: Expression; readonly demand: Demand }[]>()
  for (const node of operands) {
    const clause = node.kind === 'compare' ? clauseOf(unit, node) : undefined
    const demand = clause && (operator === '&&' ? clause.demand : complement(clause.demand))
    if (clause === undefined || demand === undefined) continue
    const earlier = known.get(print(clause.value)) ?? []
    const other = earlier.find((one) => areExclusive(one.demand, demand))
    if (other !== undefined) {
      const [first, second] = [print(other.node), print(node)]
      const message =
        operator === '&&'
          ? `\`${first}\` and \`${second}\` are never both true`
          : `\`${first}\` or \`${second}\` is always true`
      return [constant(node, message)]
    }
    known.set(print(clause.value), [...earlier, { node, demand }])
  }
  return undefined
}

function areExclusive(a: Demand, b: Demand): boolean {
  if (a.kind === 'number' && b.kind === 'number') return overlapOf(a.range, b.range) === undefined
  if (a.kind !== 'text' || b.kind !== 'text') return false
  if (!a.within && !b.within) return false
  const [some, others] = a.within ? [a, b] : [b, a]
  // Of two that name what it may be nothing is left when none is in both; of one that names what it may not be, when all are.
  return [...some.texts].every((text) => others.texts.has(text) !== others.within)
}

/** All values that a demand excludes; undefined when they are two ranges. */
function complement(demand: Demand): Demand | undefined {
  if (demand.kind === 'text') return { ...demand, within: !demand.within }
  const { least, most } = demand.range
  if (most === UINT_MAX) return { kind: 'number', range: { least: INT_MIN, most: least - 1n } }
  return least === INT_MIN ? { kind: 'number', range: { least: most + 1n, most: UINT_MAX } } : undefined
}

const mirrored = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

/** A comparison of something with literals; undefined for any other. */
function clauseOf(unit: Unit, node: Expression & { kind: 'compare' }): Clause | undefined {
  const { left, right, operator } = node
  if (operator === 'in') {
    const texts =
      right.kind === 'list' ? right.items.flatMap((item) => (item.kind === 'string' ? [item.value] : [])) : []
    return right.kind === 'list' && texts.length === right.items.length
      ? textClause(unit, left, texts, true)
      : undefined
  }
  const turned = left.kind === 'int' || left.kind === 'string'
  const [value, literal] = turned ? [right, left] : [left, right]
  if (literal.kind === 'string')
    return operator === '==' || operator === '!='
      ? textClause(unit, value, [literal.value], operator === '==')
      : undefined
  if (literal.kind !== 'int' || !isNumber(unit.types.get(value))) return undefined
  const range = rangeOf(turned ? mirrored[operator] : operator, literal.value)
  return range && { value, demand: { kind: 'number', range } }
}

function isNumber(type: Type | undefined): boolean {
  return type?.kind === 'int' || type?.kind === 'uint'
}

function rangeOf(
  operator: Exclude<(Expression & { kind: 'compare' })['operator'], 'in'>,
  n: bigint,
): Range | undefined {
  switch (operator) {
    case '==':
      return { least: n, most: n }
    case '<':
      return { least: INT_MIN, most: n - 1n }
    case '<=':
      return { least: INT_MIN, most: n }
    case '>':
      return { least: n + 1n, most: UINT_MAX }
    case '>=':
      return { least: n, most: UINT_MAX }
    case '!=':
      return undefined
    default:
      return operator satisfies never
  }
}

function textClause(unit: Unit, value: Expression, texts: readonly string[], within: boolean): Clause | undefined {
  const type = unit.types.get(value)
  if (type?.kind !== 'string' || value.kind === 'string') return undefined
  const fold = type.letters === 'exact' ? String : type.letters === 'activity' ? foldActivityName : foldHex
  return { value, demand: { kind: 'text', texts: new Set(texts.map(fold)), within } }
}
