/**
 * How an expression is laid out: a document of texts and places where a line may break, after Wadler's *A prettier
 * printer*. Parentheses stand where precedence needs them, and around `&&` inside of `||`, where readers do.
 */
import type { Expression } from './ast.ts'
import { compareOperators, logicOperators, notOperator, POSTFIX_PRECEDENCE } from './operators.ts'

/** A document. All lines of a group break, or none does. */
export type Layout =
  | string
  | { readonly kind: 'all'; readonly parts: readonly Layout[] }
  /** `flat` where it does not break. */
  | { readonly kind: 'line'; readonly flat: string }
  /** Lines inside of it are indented by two more columns. */
  | { readonly kind: 'indent'; readonly inner: Layout }
  | { readonly kind: 'group'; readonly inner: Layout }

/** Lays out an expression. */
export function layout(node: Expression): Layout {
  switch (node.kind) {
    case 'bool':
    case 'int':
      return String(node.value)
    case 'string':
      return `'${node.value}'`
    case 'list':
      return bracketed('[', node.items.map(layout), ']')
    case 'struct':
      return bracketed(
        '{',
        node.fields.map(({ name, value }) => all(`${name.text}: `, layout(value))),
        '}',
        ' ',
      )
    case 'name':
      return node.name
    case 'call':
      return all(node.name.text, bracketed('(', node.args.map(layout), ')'))
    case 'member':
      return all(operand(node.target, POSTFIX_PRECEDENCE), `.${node.name.text}`)
    case 'method':
      return all(
        operand(node.target, POSTFIX_PRECEDENCE),
        `.${node.name.text}`,
        bracketed('(', node.args.map(layout), ')'),
      )
    case 'quantifier':
      return all(
        operand(node.target, POSTFIX_PRECEDENCE),
        `.${node.method}`,
        bracketed('(', [node.variable.text, layout(node.predicate)], ')'),
      )
    case 'index':
      return all(operand(node.target, POSTFIX_PRECEDENCE), '[', layout(node.index), ']')
    case 'slice':
      return all(operand(node.target, POSTFIX_PRECEDENCE), '[', layout(node.from), '..', layout(node.to), ']')
    case 'not':
      return all('!', operand(node.operand, notOperator.precedence))
    case 'compare': {
      const tighter = compareOperators[node.operator].precedence + 1
      return all(operand(node.left, tighter), ` ${node.operator} `, operand(node.right, tighter))
    }
    case 'logic': {
      const tighter = logicOperators[node.operator].precedence + 1
      const operands = node.operands.map((each) =>
        each.kind === 'logic' ? parenthesised(layout(each)) : operand(each, tighter),
      )
      const rest = operands.slice(1).flatMap((each) => [line(' '), `${node.operator} `, each])
      return group(all(operands[0]!, ...rest))
    }
    default:
      return node satisfies never
  }
}

function operand(node: Expression, least: number): Layout {
  return precedenceOf(node) < least ? parenthesised(layout(node)) : layout(node)
}

function precedenceOf(node: Expression): number {
  switch (node.kind) {
    case 'logic':
      return logicOperators[node.operator].precedence
    case 'compare':
      return compareOperators[node.operator].precedence
    case 'not':
      return notOperator.precedence
    default:
      return POSTFIX_PRECEDENCE
  }
}

function parenthesised(inner: Layout): Layout {
  return bracketed('(', [inner], ')')
}

function bracketed(open: string, items: readonly Layout[], close: string, edge = ''): Layout {
  if (items.length === 0) return `${open}${close}`
  const separated = items.flatMap((item, index) => (index === 0 ? [item] : [',', line(' '), item]))
  return group(all(open, { kind: 'indent', inner: all(line(edge), ...separated) }, line(edge), close))
}

function all(...parts: readonly Layout[]): Layout {
  return { kind: 'all', parts }
}

function line(flat: string): Layout {
  return { kind: 'line', flat }
}

function group(inner: Layout): Layout {
  return { kind: 'group', inner }
}

/** The text of a document on one line. */
export function flatten(doc: Layout): string {
  if (typeof doc === 'string') return doc
  switch (doc.kind) {
    case 'all':
      return doc.parts.map(flatten).join('')
    case 'line':
      return doc.flat
    case 'indent':
    case 'group':
      return flatten(doc.inner)
    default:
      return doc satisfies never
  }
}

/** The text of a document in lines of at most `width` columns where its places to break allow that. */
export function fill(doc: Layout, width: number, { breakOutermost = false } = {}): string {
  let text = ''
  let column = 0
  const put = (piece: string) => {
    text += piece
    column += piece.length
  }
  // What follows a group up to the next place to break counts to its line: `).count() >= 2`.
  const walk = (at: Layout, indent: number, broken: boolean, after: number): void => {
    if (typeof at === 'string') {
      put(at)
      return
    }
    switch (at.kind) {
      case 'all':
        for (const [index, part] of at.parts.entries())
          walk(part, indent, broken, tailWidth(at.parts.slice(index + 1), broken, after))
        return
      case 'line':
        if (!broken) {
          put(at.flat)
          return
        }
        text += `\n${' '.repeat(indent)}`
        column = indent
        return
      case 'indent':
        walk(at.inner, indent + 2, broken, after)
        return
      case 'group': {
        const fits = column + flatten(at.inner).length + after <= width
        walk(at.inner, indent, !fits || (breakOutermost && at === doc), after)
        return
      }
      default:
        at satisfies never
    }
  }
  walk(doc, 0, false, 0)
  return text
}

/** Columns up to the next break among parts that follow. */
function tailWidth(parts: readonly Layout[], broken: boolean, after: number): number {
  let width = 0
  for (const part of parts) {
    if (broken && typeof part !== 'string' && part.kind === 'line') return width
    width += typeof part === 'string' || part.kind === 'line' ? flatten(part).length : headWidth(part)
    if (typeof part !== 'string' && part.kind !== 'line') return width
  }
  return width + after
}

/** Columns of a document before it can first break. */
function headWidth(doc: Layout): number {
  if (typeof doc === 'string') return doc.length
  if (doc.kind === 'line') return 0
  if (doc.kind !== 'all') return headWidth(doc.inner)
  let width = 0
  for (const part of doc.parts) {
    width += headWidth(part)
    if (canBreak(part)) return width
  }
  return width
}

function canBreak(doc: Layout): boolean {
  if (typeof doc === 'string') return false
  if (doc.kind === 'line') return true
  return doc.kind === 'all' ? doc.parts.some(canBreak) : canBreak(doc.inner)
}
