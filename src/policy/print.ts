/**
 * Tree → text. Parsing what it prints gives the same tree. Parentheses stand where precedence needs them, and around
 * `&&` inside of `||`, where readers do.
 */
import type { Expression } from './ast.ts'
import { compareOperators, logicOperators, notOperator, POSTFIX_PRECEDENCE } from './operators.ts'

/** Prints an expression on one line. */
export function print(node: Expression): string {
  switch (node.kind) {
    case 'bool':
    case 'int':
      return String(node.value)
    case 'string':
      return `'${node.value}'`
    case 'list':
      return `[${node.items.map(print).join(', ')}]`
    case 'struct':
      return `{ ${node.fields.map(({ name, value }) => `${name.text}: ${print(value)}`).join(', ')} }`
    case 'name':
      return node.name
    case 'call':
      return `${node.name.text}(${node.args.map(print).join(', ')})`
    case 'member':
      return `${operand(node.target, POSTFIX_PRECEDENCE)}.${node.name.text}`
    case 'method':
      return `${operand(node.target, POSTFIX_PRECEDENCE)}.${node.name.text}(${node.args.map(print).join(', ')})`
    case 'quantifier':
      return `${operand(node.target, POSTFIX_PRECEDENCE)}.${node.method}(${node.variable.text}, ${print(node.predicate)})`
    case 'index':
      return `${operand(node.target, POSTFIX_PRECEDENCE)}[${print(node.index)}]`
    case 'slice':
      return `${operand(node.target, POSTFIX_PRECEDENCE)}[${print(node.from)}..${print(node.to)}]`
    case 'not':
      return `!${operand(node.operand, notOperator.precedence)}`
    case 'compare': {
      const tighter = compareOperators[node.operator].precedence + 1
      return `${operand(node.left, tighter)} ${node.operator} ${operand(node.right, tighter)}`
    }
    case 'logic': {
      const tighter = logicOperators[node.operator].precedence + 1
      return node.operands
        .map((each) => (each.kind === 'logic' ? `(${print(each)})` : operand(each, tighter)))
        .join(` ${node.operator} `)
    }
    default:
      return node satisfies never
  }
}

function operand(node: Expression, least: number): string {
  return precedenceOf(node) < least ? `(${print(node)})` : print(node)
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
