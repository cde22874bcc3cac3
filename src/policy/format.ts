/** Text → the same expression in the usual form. What it gives is parsed again and compared with what it was given. */
import type { Expression } from './ast.ts'
import { checkTree } from './check.ts'
import { fill, layout } from './layout.ts'
import type { PolicyField } from './model.ts'
import { parse } from './parser.ts'
import type { PolicyProblem } from './problem.ts'

export interface FormatOptions {
  /** Columns that there are. @default 100 */
  readonly width?: number
  /** Puts each clause of the outermost `&&` or `||` on a line of its own, however short. @default false */
  readonly clauseALine?: boolean
}

/**
 * Formats an expression: one blank where blanks matter, parentheses where readers need them, `count()` in full, and a
 * line for each clause where one line does not hold them all. A text that does not parse gives its problems.
 *
 * @example
 * formatExpression('condition', "wallet.id=='a'&&(  !wallet.exported )") //=> { text: "wallet.id == 'a' && !wallet.exported" }
 */
export function formatExpression(
  field: PolicyField,
  text: string,
  { width = 100, clauseALine = false }: FormatOptions = {},
): { readonly text: string } | { readonly problems: readonly PolicyProblem[] } {
  const { tree, problems } = parse(text)
  if (tree === undefined || problems.some(({ severity }) => severity === 'error')) return { problems }
  const wanted = withCalls(tree, checkTree(field, tree).types)
  const formatted = fill(layout(wanted), width, { breakOutermost: clauseALine })
  const again = parse(formatted).tree
  // INVARIANT: a formatter that changed what a policy says would be a way round its review.
  if (again === undefined || shapeOf(again) !== shapeOf(wanted))
    throw new Error(`formatting changed the expression \`${text}\``)
  return { text: formatted }
}

/** `list.count` is `list.count()` (U-count-bare). */
function withCalls(node: Expression, types: ReturnType<typeof checkTree>['types']): Expression {
  const inside = <T extends Expression>(child: T): T => withCalls(child, types) as T
  switch (node.kind) {
    case 'member': {
      const of = types.get(node.target)?.kind
      const target = inside(node.target)
      return node.name.text === 'count' && (of === 'list' || of === 'dynamic')
        ? { kind: 'method', target, name: node.name, args: [], start: node.start, end: node.end }
        : { ...node, target }
    }
    case 'list':
      return { ...node, items: node.items.map(inside) }
    case 'struct':
      return { ...node, fields: node.fields.map(({ name, value }) => ({ name, value: inside(value) })) }
    case 'call':
      return { ...node, args: node.args.map(inside) }
    case 'method':
      return { ...node, target: inside(node.target), args: node.args.map(inside) }
    case 'quantifier':
      return { ...node, target: inside(node.target), predicate: inside(node.predicate) }
    case 'index':
      return { ...node, target: inside(node.target), index: inside(node.index) }
    case 'slice':
      return { ...node, target: inside(node.target), from: inside(node.from), to: inside(node.to) }
    case 'not':
      return { ...node, operand: inside(node.operand) }
    case 'compare':
      return { ...node, left: inside(node.left), right: inside(node.right) }
    case 'logic':
      return { ...node, operands: node.operands.map(inside) }
    default:
      return node
  }
}

/** A tree without its places, as text to compare. */
function shapeOf(node: Expression): string {
  return JSON.stringify(node, (key, value: unknown) =>
    key === 'start' || key === 'end' ? undefined : typeof value === 'bigint' ? `${value}n` : value,
  )
}
