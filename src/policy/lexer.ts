/**
 * Text → tokens (docs/protocol/policies.md#grammar).
 *
 *   string     = "'" , { any character except "'" } , "'"          no escapes (U-escape)
 *   integer    = [ "-" ] , digit , { digit }                       decimal alone (U-intlit)
 *   identifier = ( letter | "_" ) , { letter | digit | "_" }
 *   white space is blank, tab, CR, LF; there are no comments (U-ws)
 */
import { type Extent, type PolicyProblem, problem } from './problem.ts'
import { isPunctuation, isReserved, punctuation, type Token } from './tokens.ts'

export interface Lexed {
  /** Ends with the `end` token, which stands where the last real token ends. */
  readonly tokens: readonly Token[]
  readonly problems: readonly PolicyProblem[]
}

const WHITE = /[ \t\r\n]+/y
const STRING = /'[^']*'/y
/** Texts as other languages quote them. */
const MISQUOTED = /"[^"]*"|“[^”]*”|‘[^’]*’|`[^`]*`/y
/** With what is no number but was meant as one: other radixes, separators, exponents, fractions. `0..10` is no fraction. */
const NUMBER = /-?[0-9][A-Za-z0-9_]*(?:\.[0-9][A-Za-z0-9_]*)?/y
/** A comment as other languages write them, to its end. */
const COMMENT = /#[^\n]*|\/\/[^\n]*|\/\*.*?(?:\*\/|$)/sy
const DECIMAL = /^-?[0-9]+$/
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y

const ARITHMETIC = 'the language has no arithmetic: write the result'
const QUOTES = 'texts stand in single quotes'

/**
 * What other languages have and this one has not, with what to write instead. Of two that start alike the longer one
 * comes first, and all of them are looked for before the symbols of the language.
 */
const foreign: Readonly<Record<string, string | undefined>> = {
  '===': 'did you mean `==`?',
  '!==': 'did you mean `!=`?',
  '>==': 'did you mean `>=`?',
  '<==': 'did you mean `<=`?',
  '<>': 'did you mean `!=`?',
  '=<': 'did you mean `<=`?',
  '=>': 'did you mean `>=`? a variable and its predicate are separated by a `,`',
  '=~': 'there are no patterns: compare a part of the text, like `[0..10]`',
  '...': 'did you mean `..`?',
  '..=': 'the end of a slice is exclusive, and has no `=`',
  '::': 'did you mean `.`?',
  '->': 'did you mean `.`?',
  '?.': 'did you mean `.`? a field that is missing is an error',
  '++': ARITHMETIC,
  '--': ARITHMETIC,
  '**': ARITHMETIC,
  '&': 'did you mean `&&`?',
  '|': 'did you mean `||`?',
  '+': ARITHMETIC,
  '-': ARITHMETIC,
  '*': ARITHMETIC,
  '/': ARITHMETIC,
  '%': ARITHMETIC,
  '^': ARITHMETIC,
  '~': ARITHMETIC,
  '?': 'there is no choice between two values: join clauses with `&&` and `||`',
  ';': 'clauses are joined with `&&` and `||`, elements with `,`',
  '“': QUOTES,
  '”': QUOTES,
  '‘': QUOTES,
  '’': QUOTES,
  '`': QUOTES,
  '=': 'did you mean `==`?',
}

/** Symbols of this language, and those of others that have several characters; of two that start alike the longer one comes first. */
const SYMBOL = new RegExp(
  [...Object.keys(foreign).filter((symbol) => symbol.length > 1), ...punctuation]
    .map((symbol) => symbol.replace(/./g, '\\$&'))
    .join('|'),
  'y',
)

/** Cuts a text into tokens; a character without meaning is reported and skipped, so that the rest is still seen. */
export function lex(text: string): Lexed {
  const tokens: Token[] = []
  const problems: PolicyProblem[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return undefined
    const start = at
    at = pattern.lastIndex
    return text.slice(start, at)
  }
  while (at < text.length) {
    if (take(WHITE) !== undefined) continue
    const start = at
    const name = take(IDENTIFIER)
    if (name !== undefined) {
      tokens.push(
        isReserved(name)
          ? { kind: 'symbol', symbol: name, start, end: at }
          : { kind: 'identifier', name, start, end: at },
      )
      continue
    }
    const symbol = take(SYMBOL)
    if (symbol !== undefined) {
      if (isPunctuation(symbol)) tokens.push({ kind: 'symbol', symbol, start, end: at })
      else problems.push(unexpected(symbol, { start, end: at }, tokens.at(-1), text))
      continue
    }
    const literal = take(STRING) ?? take(NUMBER) ?? take(MISQUOTED)
    if (literal !== undefined) {
      tokens.push(literalToken(literal, start, problems))
      continue
    }
    const comment = take(COMMENT)
    if (comment !== undefined) {
      const extent = { start, end: start + comment.trimEnd().length }
      problems.push(problem('policy/unexpected-character', 'the language has no comments', extent))
      continue
    }
    if (text[start] === "'" || text[start] === '"') {
      at = text.length
      const help = text[start] === '"' ? QUOTES : undefined
      problems.push(problem('policy/unterminated-string', 'a text is not closed', { start, end: at }, { help }))
      tokens.push({ kind: 'string', value: text.slice(start + 1), start, end: at })
      continue
    }
    const found = String.fromCodePoint(text.codePointAt(start)!)
    at += found.length
    problems.push(unexpected(found, { start, end: at }, tokens.at(-1), text))
  }
  const end = tokens.at(-1)?.end ?? 0
  tokens.push({ kind: 'end', start: end, end })
  return { tokens, problems }
}

function unexpected(found: string, extent: Extent, before: Token | undefined, text: string): PolicyProblem {
  const isVisible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u.test(found)
  const code = found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  const isSign = found === '-' && !endsOperand(before) && /^\s+[0-9]/.test(text.slice(extent.end))
  return problem(
    'policy/unexpected-character',
    found.length > 1 && Object.hasOwn(foreign, found)
      ? `the language has no \`${found}\``
      : `unexpected character ${isVisible ? `\`${found}\`` : `U+${code}`}`,
    extent,
    {
      help: isSign
        ? 'the sign of a number stands directly before its digits'
        : Object.hasOwn(foreign, found)
          ? foreign[found]
          : isVisible
            ? undefined
            : 'between words stand blanks, tabs and line breaks',
    },
  )
}

function endsOperand(token: Token | undefined): boolean {
  return token !== undefined && (token.kind !== 'symbol' || [')', ']', '}', 'true', 'false'].includes(token.symbol))
}

/** A text or a number; a text in other quotes than ours is reported, and taken as it was meant. */
function literalToken(literal: string, start: number, problems: PolicyProblem[]): Token {
  const extent = { start, end: start + literal.length }
  const value = literal.slice(1, -1)
  if (literal[0] === "'") return { kind: 'string', value, ...extent }
  if (/^[-0-9]/.test(literal)) return numberToken(literal, extent, problems)
  const help = value.includes("'") ? 'a text cannot contain a single quote' : `write \`'${value}'\``
  problems.push(problem('policy/double-quotes', 'a text stands in single quotes', extent, { help }))
  return { kind: 'string', value, ...extent }
}

function numberToken(word: string, extent: { start: number; end: number }, problems: PolicyProblem[]): Token {
  if (DECIMAL.test(word)) return { kind: 'int', value: BigInt(word), ...extent }
  const meant = /^0x[0-9a-f]+$/i.test(word)
    ? BigInt(word)
    : /^-?[0-9]+(_[0-9]+)+$/.test(word)
      ? BigInt(word.replaceAll('_', ''))
      : undefined
  problems.push(
    problem('policy/malformed-number', `\`${word}\` is not a number in decimal digits`, extent, {
      help: word.includes('.') ? 'numbers have no fraction' : meant === undefined ? undefined : `write \`${meant}\``,
    }),
  )
  return { kind: 'int', value: meant ?? 0n, ...extent }
}
