/**
 * Text → tokens (facts: policy-language §2.1).
 *
 *   string     = "'" , { any character except "'" } , "'"          no escapes (U-escape)
 *   integer    = [ "-" ] , digit , { digit }                       decimal alone (U-intlit)
 *   identifier = ( letter | "_" ) , { letter | digit | "_" }
 *   white space is blank, tab, CR, LF; there are no comments (U-ws)
 */
import { type PolicyProblem, problem } from './problem.ts'
import { punctuation, reservedWords, type Token } from './tokens.ts'

export interface Lexed {
  /** Ends with the `end` token, which stands where the last real token ends. */
  readonly tokens: readonly Token[]
  readonly problems: readonly PolicyProblem[]
}

const WHITE = /[ \t\r\n]+/y
const STRING = /'[^']*'/y
const DOUBLE_QUOTED = /"[^"]*"/y
const NUMBER = /-?[0-9][A-Za-z0-9_]*/y
const DECIMAL = /^-?[0-9]+$/
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y

const ARITHMETIC = 'the language has no arithmetic: write the result'
const hints: Readonly<Record<string, string>> = {
  '=': 'did you mean `==`?',
  '&': 'did you mean `&&`?',
  '|': 'did you mean `||`?',
  '+': ARITHMETIC,
  '-': ARITHMETIC,
  '*': ARITHMETIC,
  '/': 'the language has no arithmetic and no comments',
  '%': ARITHMETIC,
  '“': 'texts stand in single quotes',
  '”': 'texts stand in single quotes',
  '‘': "write a straight quote, `'`",
  '’': "write a straight quote, `'`",
  '`': "write a straight quote, `'`",
  '#': 'the language has no comments',
}

/** Cuts a text into tokens; a character without meaning is reported and skipped, so that the rest is still seen. */
export function lex(text: string): Lexed {
  const tokens: Token[] = []
  const problems: PolicyProblem[] = []
  let at = 0
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  while (at < text.length) {
    const white = match(WHITE)
    if (white !== undefined) {
      at += white.length
      continue
    }
    const start = at
    const word = match(IDENTIFIER) ?? match(NUMBER) ?? match(STRING) ?? match(DOUBLE_QUOTED)
    if (word !== undefined) {
      at += word.length
      tokens.push(wordToken(word, start, problems))
      continue
    }
    const symbol = punctuation.find((candidate) => text.startsWith(candidate, start))
    if (symbol !== undefined) {
      at += symbol.length
      tokens.push({ kind: 'symbol', symbol, start, end: at })
      continue
    }
    if (text[start] === "'" || text[start] === '"') {
      at = text.length
      problems.push(problem('policy/unterminated-string', 'a text is not closed', { start, end: at }))
      tokens.push({ kind: 'string', value: text.slice(start + 1), start, end: at })
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(start)!)
    at += character.length
    problems.push(
      problem(
        'policy/unexpected-character',
        `unexpected character \`${character}\``,
        { start, end: at },
        { help: hints[character] },
      ),
    )
  }
  const end = tokens.at(-1)?.end ?? 0
  tokens.push({ kind: 'end', start: end, end })
  return { tokens, problems }
}

function wordToken(word: string, start: number, problems: PolicyProblem[]): Token {
  const extent = { start, end: start + word.length }
  const first = word[0]!
  if (first === "'") return { kind: 'string', value: word.slice(1, -1), ...extent }
  if (first === '"') {
    const value = word.slice(1, -1)
    const help = value.includes("'") ? 'a text cannot contain a single quote' : `write \`'${value}'\``
    problems.push(problem('policy/double-quotes', 'a text stands in single quotes', extent, { help }))
    return { kind: 'string', value, ...extent }
  }
  if (/[-0-9]/.test(first)) return numberToken(word, extent, problems)
  const reserved = reservedWords.find((name) => name === word)
  return reserved === undefined
    ? { kind: 'identifier', name: word, ...extent }
    : { kind: 'symbol', symbol: reserved, ...extent }
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
      help: meant === undefined ? undefined : `write \`${meant}\``,
    }),
  )
  return { kind: 'int', value: meant ?? 0n, ...extent }
}
