/** How rules take expressions apart. */
import { childrenOf, type Expression } from '../ast.ts'
import type { PolicyField } from '../model.ts'
import { print } from '../print.ts'
import type { Finding, LintExpression, LintInput, LintPolicy } from './rule.ts'

/** A node, with the nodes that it stands in, innermost first. */
export interface Met {
  readonly policy: LintPolicy
  readonly field: PolicyField
  readonly expression: LintExpression
  readonly node: Expression
  readonly around: readonly Expression[]
}

/** Every node of every expression of the policies. */
export function* nodesOf(input: LintInput): Generator<Met> {
  for (const policy of input.policies)
    for (const [field, expression] of Object.entries(policy.fields) as [PolicyField, LintExpression][])
      yield* below({ policy, field, expression, node: expression.tree, around: [] })
}

function* below(met: Met): Generator<Met> {
  yield met
  const around = [met.node, ...met.around]
  for (const node of childrenOf(met.node)) yield* below({ ...met, node, around })
}

/** A finding at a node. */
export function findingAt(
  { policy, field, node }: Pick<Met, 'policy' | 'field' | 'node'>,
  message: string,
  more: Pick<Finding, 'help' | 'fix' | 'related'> = {},
): Finding {
  return { at: { policy: policy.name, field, start: node.start, end: node.end }, message, ...more }
}

/** The operands of an `&&`, and of those inside of it. */
export function conjuncts(node: Expression | undefined): readonly Expression[] {
  if (node === undefined) return []
  return node.kind === 'logic' && node.operator === '&&' ? node.operands.flatMap(conjuncts) : [node]
}

/** What must hold beside a node for it to matter: the other operands of each `&&` around it. */
export function beside({ node, around }: Met): readonly Expression[] {
  const found: Expression[] = []
  let inner = node
  for (const outer of around) {
    if (outer.kind === 'logic' && outer.operator === '&&')
      found.push(...outer.operands.filter((operand) => operand !== inner).flatMap(conjuncts))
    inner = outer
  }
  return found
}

/** Comparisons of the length of a list with a number that hold beside a node. */
export function boundsBeside(
  met: Met,
  list: Expression,
): readonly { readonly operator: string; readonly count: bigint }[] {
  const text = print(list)
  return beside(met).flatMap((node) => {
    if (node.kind !== 'compare') return []
    const [count, literal, operator] =
      node.right.kind === 'int'
        ? [node.left, node.right, node.operator]
        : node.left.kind === 'int'
          ? [node.right, node.left, mirrored[node.operator] ?? node.operator]
          : [undefined, undefined, '']
    if (count === undefined || literal === undefined) return []
    const isCount = (count.kind === 'method' || count.kind === 'member') && count.name.text === 'count'
    return isCount && print(count.target) === text ? [{ operator, count: literal.value }] : []
  })
}

const mirrored: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

/** The root that a chain of fields, positions and predicates starts from. */
export function rootOf(node: Expression): string | undefined {
  switch (node.kind) {
    case 'name':
      return node.name
    case 'member':
    case 'method':
    case 'quantifier':
    case 'index':
    case 'slice':
      return rootOf(node.target)
    default:
      return undefined
  }
}

/** A comparison of something with texts: `x == 'a'`, `x in ['a', 'b']`, `['a', 'b'].contains(x)`. */
export interface TextComparison {
  readonly value: Expression
  readonly texts: readonly (Expression & { kind: 'string' })[]
  readonly equal: boolean
}

/** Takes a comparison with texts apart; undefined for anything else. */
export function textComparison(node: Expression): TextComparison | undefined {
  if (node.kind === 'method' && node.name.text === 'contains' && node.args.length === 1)
    return membership(node.args[0]!, node.target)
  if (node.kind !== 'compare') return undefined
  if (node.operator === 'in') return membership(node.left, node.right)
  if (node.operator !== '==' && node.operator !== '!=') return undefined
  const equal = node.operator === '=='
  if (node.right.kind === 'string') return { value: node.left, texts: [node.right], equal }
  return node.left.kind === 'string' ? { value: node.right, texts: [node.left], equal } : undefined
}

function membership(value: Expression, list: Expression): TextComparison | undefined {
  if (list.kind !== 'list' || list.items.length === 0) return undefined
  const texts = list.items.filter((item) => item.kind === 'string')
  return texts.length === list.items.length ? { value, texts, equal: true } : undefined
}

/** Whether a field says nothing: it is absent, or `true`. */
export function holdsAlways(expression: LintExpression | undefined): boolean {
  return expression === undefined || (expression.tree.kind === 'bool' && expression.tree.value)
}
