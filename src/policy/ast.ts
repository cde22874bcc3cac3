/**
 * The tree of an expression (docs/protocol/policies.md#grammar). Parentheses leave no trace in it. `a && b && c` is one node
 * with three operands, so that a long list of clauses is not a deep tree.
 */
export type Expression =
  | (TextRange & { readonly kind: 'bool'; readonly value: boolean })
  | (TextRange & { readonly kind: 'int'; readonly value: bigint })
  | (TextRange & { readonly kind: 'string'; readonly value: string })
  | (TextRange & { readonly kind: 'list'; readonly items: readonly Expression[] })
  | (TextRange & { readonly kind: 'struct'; readonly fields: readonly StructEntry[] })
  | (TextRange & { readonly kind: 'name'; readonly name: string })
  | (TextRange & { readonly kind: 'call'; readonly name: Identifier; readonly args: readonly Expression[] })
  | (TextRange & { readonly kind: 'member'; readonly target: Expression; readonly name: Identifier })
  | (TextRange & {
      readonly kind: 'method'
      readonly target: Expression
      readonly name: Identifier
      readonly args: readonly Expression[]
    })
  | Quantifier
  | (TextRange & { readonly kind: 'index'; readonly target: Expression; readonly index: Expression })
  | (TextRange & {
      readonly kind: 'slice'
      readonly target: Expression
      readonly from: Expression
      readonly to: Expression
    })
  | (TextRange & { readonly kind: 'not'; readonly operand: Expression })
  | (TextRange & {
      readonly kind: 'compare'
      readonly operator: CompareSymbol
      readonly left: Expression
      readonly right: Expression
    })
  | (TextRange & { readonly kind: 'logic'; readonly operator: LogicSymbol; readonly operands: readonly Expression[] })

export type Quantifier = TextRange & {
  readonly kind: 'quantifier'
  readonly target: Expression
  readonly method: QuantifierName
  readonly variable: Identifier
  readonly predicate: Expression
}

export type LogicSymbol = '&&' | '||'
export type CompareSymbol = '==' | '!=' | '<' | '>' | '<=' | '>=' | 'in'
export type QuantifierName = 'all' | 'any' | 'filter'

/** Where a node stands in the text: UTF-16 offsets, end exclusive, without the parentheses around it. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

export interface Identifier extends TextRange {
  readonly text: string
}

export interface StructEntry {
  readonly name: Identifier
  readonly value: Expression
}

/** The nodes directly below a node, in the order of the text. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'bool':
    case 'int':
    case 'string':
    case 'name':
      return []
    case 'list':
      return node.items
    case 'struct':
      return node.fields.map(({ value }) => value)
    case 'call':
      return node.args
    case 'member':
      return [node.target]
    case 'method':
      return [node.target, ...node.args]
    case 'quantifier':
      return [node.target, node.predicate]
    case 'index':
      return [node.target, node.index]
    case 'slice':
      return [node.target, node.from, node.to]
    case 'not':
      return [node.operand]
    case 'compare':
      return [node.left, node.right]
    case 'logic':
      return node.operands
    default:
      return node satisfies never
  }
}

/** How many nodes a tree has: what visiting all of it once costs. */
export function sizeOf(node: Expression): number {
  let size = 1
  for (const child of childrenOf(node)) size += sizeOf(child)
  return size
}
