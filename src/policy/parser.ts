/**
 * Tokens → tree (docs/protocol/policies.md#grammar): recursive descent, with the binary operators by the precedence of their
 * rows.
 *
 *   policy_text = expression , end ;
 *   expression  = or_expr ;
 *   or_expr     = and_expr , { "||" , and_expr } ;
 *   and_expr    = cmp_expr , { "&&" , cmp_expr } ;
 *   cmp_expr    = unary , [ cmp_op , unary ] ;
 *   unary       = { "!" } , postfix ;
 *   postfix     = primary , { member | method | subscript } ;
 *
 * Names of methods and functions are left to the checker, which knows what they could have meant.
 */
import type { Expression, Identifier, Quantifier, StructEntry } from './ast.ts'
import { childrenOf } from './ast.ts'
import { lex } from './lexer.ts'
import { limits } from './limits.ts'
import { compareOperators, isCompareSymbol, isLogicSymbol, isQuantifierName, logicOperators } from './operators.ts'
import { type Extent, type PolicyProblem, problem } from './problem.ts'
import type { Token } from './tokens.ts'

export interface Parsed {
  /** Undefined if the text is not an expression. A tree that comes with problems is only checked for more of them, never evaluated. */
  readonly tree: Expression | undefined
  readonly problems: readonly PolicyProblem[]
}

/**
 * Parses an expression. Ends at the first place where the grammar no longer fits.
 *
 * @example
 * parse('true') //=> { tree: { kind: 'bool', value: true, start: 0, end: 4 }, problems: [] }
 *
 * @example
 * parse('1 <').problems[0].message //=> 'the expression ends where an expression is expected'
 */
export function parse(text: string): Parsed {
  if (text.length > limits.expressionBytes / 3 && new TextEncoder().encode(text).length > limits.expressionBytes)
    return {
      tree: undefined,
      problems: [
        problem('policy/too-long', `an expression has at most ${limits.expressionBytes} bytes`, {
          start: 0,
          end: text.length,
        }),
      ],
    }
  const { tokens, problems } = lex(text)
  try {
    const tree = new Parser(text, tokens).parse()
    return problems.some(({ code }) => leavesHole.has(code)) ? { tree: undefined, problems } : { tree, problems }
  } catch (error) {
    if (!(error instanceof SyntaxStop)) throw error
    const { start } = error.problem
    if (problems.some((found) => leavesHole.has(found.code) && found.start <= start))
      return { tree: undefined, problems }
    // A stray quote is reported once: as the syntax error, not as an unterminated string too.
    const others = problems.filter(({ code }) => code !== 'policy/unterminated-string')
    return { tree: undefined, problems: [...others, error.problem] }
  }
}

/** After these problems the tokens are not those that the author meant, so a syntax error that follows is not reported. */
const leavesHole: ReadonlySet<PolicyProblem['code']> = new Set([
  'policy/unexpected-character',
  'policy/unterminated-string',
])

/** Thrown at the first syntax error to end the descent; `parse` catches it. */
class SyntaxStop extends Error {
  readonly problem: PolicyProblem

  constructor(found: PolicyProblem) {
    super(found.message)
    this.problem = found
  }
}

/** Words that other languages have for operators, by their lower case. */
const wordOperators: Readonly<Record<string, string>> = { and: '&&', or: '||', not: '!', in: 'in', is: '==', eq: '==' }

const TRAILING = 'remove the `,` before it'
const OPERATOR = 'an operator or the end of the expression'

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  /** Height of the tree below each node made so far; a leaf has 1. */
  readonly #heights = new Map<Expression, number>()
  #position = 0
  #depth = 0

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text
    this.#tokens = tokens
  }

  parse(): Expression {
    const tree = this.#binary(1)
    if (this.#token.kind !== 'end') this.#unexpected(OPERATOR)
    return tree
  }

  /** or_expr, and_expr and cmp_expr, from the loosest operator that `least` allows. */
  #binary(least: number): Expression {
    // Not `left.start`: parentheses around the first operand are not part of it, but they are part of this expression.
    const { start } = this.#token
    let left = this.#unary()
    for (;;) {
      const symbol = this.#symbol
      if (symbol !== undefined && isCompareSymbol(symbol) && compareOperators[symbol].precedence >= least) {
        const { precedence } = compareOperators[symbol]
        this.#position++
        const right = this.#binary(precedence + 1)
        left = this.#node({ kind: 'compare', operator: symbol, left, right, start, end: this.#lastEnd })
        const next = this.#symbol
        if (next !== undefined && isCompareSymbol(next))
          this.#stop('policy/chained-comparison', `a comparison is followed by another, \`${next}\``, {
            help: 'join two comparisons with `&&`',
          })
      } else if (symbol !== undefined && isLogicSymbol(symbol) && logicOperators[symbol].precedence >= least) {
        const operands = [left]
        while (this.#symbol === symbol) {
          this.#position++
          operands.push(this.#binary(logicOperators[symbol].precedence + 1))
        }
        left = this.#node({
          kind: 'logic',
          operator: symbol,
          operands,
          start,
          end: this.#lastEnd,
        })
      } else return left
    }
  }

  #unary(): Expression {
    const { start } = this.#token
    if (this.#symbol !== '!') return this.#postfix()
    this.#position++
    const operand = this.#nested(() => this.#unary())
    return this.#node({ kind: 'not', operand, start, end: this.#lastEnd })
  }

  #postfix(): Expression {
    const { start } = this.#token
    let target = this.#primary()
    for (;;) {
      if (this.#take('.')) target = this.#afterDot(target, start)
      else if (this.#take('[')) target = this.#nested(() => this.#subscript(target, start))
      else return target
    }
  }

  #afterDot(target: Expression, start: number): Expression {
    const name = this.#identifier('the name of a field or method')
    if (!this.#take('(')) return this.#node({ kind: 'member', target, name, start, end: name.end })
    if (isQuantifierName(name.text)) {
      const method = name.text
      return this.#nested(() => this.#quantifier(target, method, start))
    }
    const args = this.#nested(() => this.#sequence(')'))
    return this.#node({ kind: 'method', target, name, args, start, end: this.#lastEnd })
  }

  /** method = "." , ( "all" | "any" | "filter" ) , "(" , identifier , "," , expression , ")" */
  #quantifier(target: Expression, method: Quantifier['method'], start: number): Expression {
    const variable = this.#identifier('a variable for the element, then `,` and a predicate')
    this.#expect(',', 'a `,` and a predicate')
    const predicate = this.#binary(1)
    this.#expect(')', '`)`')
    return this.#node({ kind: 'quantifier', target, method, variable, predicate, start, end: this.#lastEnd })
  }

  /** subscript = "[" , expression , [ ".." , expression ] , "]" ; both bounds of a slice are required (U-slice-form). */
  #subscript(target: Expression, start: number): Expression {
    const bothBounds = 'a slice has both bounds, like `[0..10]`'
    if (this.#symbol === '..') this.#unexpected('an expression', bothBounds)
    const index = this.#binary(1)
    if (!this.#take('..')) {
      this.#expect(']', '`..` or `]`')
      return this.#node({ kind: 'index', target, index, start, end: this.#lastEnd })
    }
    if (this.#symbol === ']') this.#unexpected('an expression', bothBounds)
    const to = this.#binary(1)
    this.#expect(']', '`]`')
    return this.#node({ kind: 'slice', target, from: index, to, start, end: this.#lastEnd })
  }

  #primary(): Expression {
    const token = this.#token
    const { start, end } = token
    switch (token.kind) {
      case 'int':
        this.#position++
        return this.#node({ kind: 'int', value: token.value, start, end })
      case 'string':
        this.#position++
        return this.#node({ kind: 'string', value: token.value, start, end })
      case 'identifier': {
        this.#position++
        const name = { text: token.name, start, end }
        if (!this.#take('(')) return this.#node({ kind: 'name', name: token.name, start, end })
        const args = this.#nested(() => this.#sequence(')'))
        return this.#node({ kind: 'call', name, args, start, end: this.#lastEnd })
      }
      case 'symbol':
        return this.#bracketed(token.symbol, start, end)
      case 'end':
        return this.#unexpected('an expression')
      default:
        return token satisfies never
    }
  }

  #bracketed(symbol: string, start: number, end: number): Expression {
    switch (symbol) {
      case 'true':
      case 'false':
        this.#position++
        return this.#node({ kind: 'bool', value: symbol === 'true', start, end })
      case '(': {
        this.#position++
        return this.#nested(() => {
          const inner = this.#binary(1)
          this.#expect(')', 'an operator or `)`')
          return inner
        })
      }
      case '[': {
        this.#position++
        const items = this.#nested(() => this.#sequence(']'))
        return this.#node({ kind: 'list', items, start, end: this.#lastEnd })
      }
      case '{': {
        this.#position++
        const fields = this.#nested(() => this.#structEntries())
        return this.#node({ kind: 'struct', fields, start, end: this.#lastEnd })
      }
      default:
        return this.#unexpected('an expression')
    }
  }

  /** Zero or more expressions and the closing bracket; a trailing comma is a syntax error (U-trailing). */
  #sequence(close: ')' | ']'): readonly Expression[] {
    const items: Expression[] = []
    if (this.#take(close)) return items
    for (;;) {
      items.push(this.#binary(1))
      if (this.#take(close)) return items
      this.#expect(',', `\`,\` or \`${close}\``)
      if (this.#symbol === close) this.#unexpected('an expression', TRAILING)
    }
  }

  /** struct = "{" , identifier , ":" , expression , { "," , identifier , ":" , expression } , "}" */
  #structEntries(): readonly StructEntry[] {
    const fields: StructEntry[] = []
    for (;;) {
      if (fields.length > 0 && this.#symbol === '}') this.#unexpected('the name of a field', TRAILING)
      const name = this.#identifier('the name of a field')
      this.#expect(':', '`:`')
      fields.push({ name, value: this.#binary(1) })
      if (this.#take('}')) return fields
      this.#expect(',', '`,` or `}`')
    }
  }

  #identifier(expected: string): Identifier {
    const token = this.#token
    if (token.kind !== 'identifier') return this.#unexpected(expected)
    this.#position++
    return { text: token.name, start: token.start, end: token.end }
  }

  get #token(): Token {
    return this.#tokens[Math.min(this.#position, this.#tokens.length - 1)]!
  }

  get #symbol(): string | undefined {
    const token = this.#token
    return token.kind === 'symbol' ? token.symbol : undefined
  }

  get #lastEnd(): number {
    return this.#tokens[this.#position - 1]!.end
  }

  #take(symbol: string): boolean {
    if (this.#symbol !== symbol) return false
    this.#position++
    return true
  }

  #expect(symbol: string, expected: string): void {
    if (!this.#take(symbol)) this.#unexpected(expected)
  }

  /** Counts a level of nesting in the text, which bounds the descent itself. */
  #nested<T>(read: () => T): T {
    if (++this.#depth > limits.depth) this.#tooDeep(this.#token)
    const result = read()
    this.#depth--
    return result
  }

  /** Counts the height of the tree, which bounds whatever walks it later. */
  #node(node: Expression): Expression {
    // No tree is higher than its text has tokens.
    if (this.#tokens.length <= limits.depth) return node
    let height = 0
    for (const child of childrenOf(node)) height = Math.max(height, this.#heights.get(child) ?? 1)
    if (height >= limits.depth) this.#tooDeep(node)
    if (height > 0) this.#heights.set(node, height + 1)
    return node
  }

  #tooDeep(extent: Extent): never {
    throw new SyntaxStop(problem('policy/too-deep', `an expression has at most ${limits.depth} levels`, extent))
  }

  #stop(code: PolicyProblem['code'], message: string, more: { readonly help?: string | undefined }): never {
    throw new SyntaxStop(problem(code, message, this.#token, more))
  }

  #unexpected(expected: string, help?: string): never {
    const token = this.#token
    if (token.kind === 'end' && this.#tokens.length === 1)
      return this.#stop('policy/unexpected-end', 'the expression is empty', {
        help: 'leave the field out, or write `true`',
      })
    if (token.kind === 'end')
      return this.#stop('policy/unexpected-end', `the expression ends where ${expected} is expected`, { help })
    const got = this.#text.slice(token.start, token.end)
    return this.#stop('policy/unexpected-token', `expected ${expected}, got \`${got}\``, {
      help: help ?? this.#hint(expected),
    })
  }

  /** The help for a syntax error: what the author probably meant, by the words around the place. */
  #hint(expected: string): string | undefined {
    const token = this.#token
    const before = this.#tokens[this.#position - 1]
    const after = this.#tokens[this.#position + 1]
    const isSymbol = (one: Token | undefined, symbol: string) => one?.kind === 'symbol' && one.symbol === symbol
    const isSplit = expected === OPERATOR && before?.kind === 'string' && before.end === token.start
    if (isSplit && (token.kind === 'string' || token.kind === 'identifier'))
      return 'a text cannot contain a single quote'
    if (token.kind === 'identifier') {
      const word = token.name.toLowerCase()
      if (word === 'not' && isSymbol(after, 'in')) return 'write `!(… in …)`'
      return Object.hasOwn(wordOperators, word) ? `did you mean \`${wordOperators[word]}\`?` : undefined
    }
    if (expected === OPERATOR) {
      if (before?.kind === 'identifier' && before.name.toLowerCase() === 'not') return 'write `!` for `not`'
      if (token.kind === 'int' && token.value < 0n) return 'the language has no arithmetic: write the result'
      if (isSymbol(token, '..')) return before?.kind === 'int' ? 'bounds stand in `[…]`' : 'did you mean `.`?'
      if (isSymbol(token, ',') && before?.kind === 'int' && after?.kind === 'int')
        return 'digits stand without separators'
      return undefined
    }
    if (isSymbol(token, '.') && after?.kind === 'int') return 'numbers have no fraction'
    if (token.kind === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(token.value) && expected.startsWith('the name'))
      return `write \`${token.value}\` without quotes`
    if (token.kind === 'symbol' && /^(true|false|in)$/.test(token.symbol))
      return `\`${token.symbol}\` is a reserved word`
    return undefined
  }
}
