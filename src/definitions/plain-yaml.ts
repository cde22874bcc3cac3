/**
 * Reads the plain part of YAML, in which nearly all definitions and every lock file are written, straight into a tree. A general parser
 * makes tokens, then nodes, then a document, which is most of the time that loading a large organization takes.
 *
 * The part: block maps and block lists; flow maps and lists on one line; plain and quoted scalars on one line; literal and
 * folded blocks; remarks. Not in it, among others: anchors, aliases, tags, several documents, tabs, carriage returns,
 * scalars over several lines.
 *
 * INVARIANT: whatever is read here is read as the general parser reads it, places included. For a file with anything else in it, or with
 * anything that may be a fault, `readPlainYaml` gives no tree, and the general parser reads the file.
 */
import type { Source, Span } from '../diagnostics/index.ts'
import { createLocate, decodeFlow, type ScalarToken } from './scalar-offsets.ts'
import { SECRET_KEY } from './secrets.ts'
import type { ListTree, MapEntry, MapTree, ScalarTree, Tree } from './tree.ts'

/** Reads a file; undefined when it is not wholly of the plain part. */
export function readPlainYaml(source: Source): MapTree | undefined {
  // Tabs, carriage returns and byte order marks are left to the general parser.
  if (/[\t\r\ufeff]/.test(source.text)) return undefined
  try {
    return new PlainReader(source).read()
  } catch (stop) {
    if (stop === NOT_PLAIN) return undefined
    throw stop
  }
}

/** Thrown where the plain part ends. */
const NOT_PLAIN = new Error('not of the plain part of YAML')

/** The deepest nesting that is read here: deeper than any definition, and far from filling the stack. */
const DEEPEST = 40
/** The general parser refuses keys of more than 1,024. */
const LONGEST_KEY = 1_000

/** Characters with which no plain scalar begins (YAML 1.2 §5.3), and two with which one may begin that are left to the general parser. */
const INDICATORS = ',[]{}#&*!|>\'"%@`?:'
const FLOW_INDICATORS = ',[]{}'

class PlainReader {
  readonly #source: Source
  readonly #text: string
  /** Between values: the first character of the next line that says something. */
  #at = 0
  /** The column of that line; −1 at the end of the file. */
  #column = -1
  #depth = 0

  constructor(source: Source) {
    this.#source = source
    this.#text = source.text
  }

  read(): MapTree {
    this.#nextLine(0)
    if (this.#column !== 0) throw NOT_PLAIN
    const tree = this.#map(0)
    if (this.#column >= 0) throw NOT_PLAIN
    return tree
  }

  /** Goes from the start of a line to the next one that says something. */
  #nextLine(lineStart: number): void {
    const text = this.#text
    let start = lineStart
    while (start < text.length) {
      const first = skipBlanks(text, start)
      if (first >= text.length) break
      if (text[first] !== '#' && text[first] !== '\n') {
        if (first === start && /^(?:%|---|\.\.\.)/.test(text.slice(first, first + 3))) throw NOT_PLAIN
        this.#at = first
        this.#column = first - start
        return
      }
      start = lineEnd(text, first) + 1
    }
    this.#at = text.length
    this.#column = -1
  }

  /** Behind a value its line has nothing, or a comment. */
  #endLine(at: number): void {
    const next = skipBlanks(this.#text, at)
    const end = lineEnd(this.#text, next)
    if (next < end && !(this.#text[next] === '#' && next > at)) throw NOT_PLAIN
    this.#nextLine(end + 1)
  }

  #deeper<T>(read: () => T): T {
    if (++this.#depth > DEEPEST) throw NOT_PLAIN
    const result = read()
    this.#depth--
    return result
  }

  /** A block map; the reader stands at its first key. */
  #map(column: number): MapTree {
    return this.#deeper(() => {
      const start = this.#at
      const entries = new Entries()
      do entries.add(this.#entry(column))
      while (this.#column === column)
      // A line that is indented deeper than the key, and is not its value, continues the value in a form that is not read here.
      if (this.#column > column) throw NOT_PLAIN
      return { kind: 'map', span: { source: this.#source, start, end: entries.end }, entries: entries.list }
    })
  }

  #entry(column: number): MapEntry {
    const key = this.#key(this.#at, '')
    const value = this.#value(skipBlanks(this.#text, key.end), column, key.span)
    return { key: key.text, keySpan: key.span, value }
  }

  /** A key and its colon; `end` is behind that. */
  #key(start: number, stops: string): { readonly text: string; readonly span: Span; readonly end: number } {
    const text = this.#text
    const { end, source, type } = this.#scalarAt(start, stops)
    if (text[end] !== ':' || end - start > LONGEST_KEY) throw NOT_PLAIN
    if (text[end + 1] !== ' ' && text[end + 1] !== '\n' && end + 1 < text.length) throw NOT_PLAIN
    const decoded = type === 'scalar' ? source : decode(type, source)
    if (SECRET_KEY.test(decoded)) throw NOT_PLAIN
    return { text: decoded, span: this.#span(start, start + source.length), end: end + 1 }
  }

  /** The value of a key or an item: on its line, or on the lines below it that stand deeper than `column`. */
  #value(at: number, column: number, keySpan: Span): Tree {
    const first = this.#text[at]
    if (first === undefined || first === '\n' || first === '#') {
      this.#nextLine(lineEnd(this.#text, at) + 1)
      if (this.#column > column) return this.#isItem() ? this.#list(this.#column) : this.#map(this.#column)
      if (this.#column === column && this.#isItem()) return this.#list(column)
      return { kind: 'scalar', span: keySpan, value: null, locate: () => keySpan }
    }
    if (first === '[' || first === '{') {
      const tree = this.#flow(at)
      this.#endLine(tree.span.end)
      return tree
    }
    if (first === '|' || first === '>') return this.#block(at, column)
    const scalar = this.#scalarAt(at, '')
    this.#endLine(at + scalar.source.length)
    return this.#scalar(at, scalar)
  }

  #isItem(): boolean {
    return this.#text[this.#at] === '-' && this.#text[this.#at + 1] === ' '
  }

  /** A block list; the reader stands at its first dash. */
  #list(column: number): ListTree {
    return this.#deeper(() => {
      const start = this.#at
      const items: Tree[] = []
      do items.push(this.#item(column))
      while (this.#column === column && this.#isItem())
      if (this.#column > column) throw NOT_PLAIN
      return { kind: 'list', span: { source: this.#source, start, end: items.at(-1)!.span.end }, items }
    })
  }

  #item(column: number): Tree {
    const text = this.#text
    const at = skipBlanks(text, this.#at + 1)
    const first = text[at]
    if (first === undefined || first === '\n' || first === '#') throw NOT_PLAIN
    if (!'[{|>'.includes(first)) {
      const { end } = this.#scalarAt(at, '')
      if (text[end] === ':') {
        this.#column += at - this.#at
        this.#at = at
        return this.#map(this.#column)
      }
    }
    return this.#value(at, column, { source: this.#source, start: at, end: at })
  }

  /** A map or a list in brackets, on one line. */
  #flow(start: number): MapTree | ListTree {
    return this.#deeper(() => {
      const text = this.#text
      const isMap = text[start] === '{'
      const close = isMap ? '}' : ']'
      const items: Tree[] = []
      const entries = new Entries()
      let at = skipBlanks(text, start + 1)
      for (let first = true; text[at] !== close || !first; first = false) {
        if (!first) {
          if (text[at] === close) break
          if (text[at] !== ',') throw NOT_PLAIN
          at = skipBlanks(text, at + 1)
        }
        if (isMap) {
          const key = this.#key(at, FLOW_INDICATORS)
          at = skipBlanks(text, key.end)
          const value = this.#flowValue(at)
          entries.add({ key: key.text, keySpan: key.span, value })
          at = value.span.end
        } else {
          const value = this.#flowValue(at)
          items.push(value)
          at = value.span.end
        }
        at = skipBlanks(text, at)
      }
      const span = this.#span(start, at + 1)
      return isMap ? { kind: 'map', span, entries: entries.list } : { kind: 'list', span, items }
    })
  }

  #flowValue(at: number): Tree {
    const first = this.#text[at]
    if (first === '[' || first === '{') return this.#flow(at)
    const scalar = this.#scalarAt(at, FLOW_INDICATORS)
    return this.#scalar(at, scalar)
  }

  /**
   * The scalar that begins here: as it is written, and where what follows it begins. A plain one goes to the end of the
   * line, a remark, a colon before a blank, or one of `stops`.
   */
  #scalarAt(start: number, stops: string): Written {
    const text = this.#text
    const quote = text[start]
    if (quote === '"' || quote === "'") {
      const end = closingQuote(text, start)
      return {
        type: quote === '"' ? 'double-quoted-scalar' : 'single-quoted-scalar',
        source: text.slice(start, end),
        end,
      }
    }
    const next = text[start + 1]
    if (quote === undefined || quote === '\n' || INDICATORS.includes(quote)) throw NOT_PLAIN
    if (quote === '-' && (next === undefined || ' \n,[]{}'.includes(next))) throw NOT_PLAIN
    let end = start
    for (; end < text.length; end++) {
      const character = text[end]!
      if (character === '\n') break
      if (character === '#' && text[end - 1] === ' ') break
      if (stops !== '' && stops.includes(character)) break
      if (character === ':') {
        const after = text[end + 1]
        if (after === undefined || after === ' ' || after === '\n' || (stops !== '' && stops.includes(after))) break
      }
    }
    let last = end
    while (text[last - 1] === ' ') last--
    // A colon makes a key only where it follows at once.
    if (text[end] === ':' && last !== end) throw NOT_PLAIN
    return { type: 'scalar', source: text.slice(start, last), end }
  }

  #scalar(start: number, { type, source }: Written): ScalarTree {
    const value = type === 'scalar' ? plainValue(source) : decode(type, source)
    const span = this.#span(start, start + source.length)
    const token = () => ({ type, offset: start, source }) as ScalarToken
    return { kind: 'scalar', span, value, locate: createLocate(this.#source, { span, value, token }) }
  }

  /** A literal or folded block, whose first line sets the indentation. */
  #block(start: number, column: number): ScalarTree {
    const text = this.#text
    const header = /^([|>])(-?)$/.exec(text.slice(start, lineEnd(text, start)))
    if (!header) throw NOT_PLAIN
    const [whole, style, strip] = header
    const contentStart = start + whole.length + 1
    const indent = skipBlanks(text, contentStart) - contentStart
    if (indent <= column) throw NOT_PLAIN
    const lines: string[] = []
    let next = contentStart
    let contentEnd = contentStart
    while (next < text.length) {
      const end = lineEnd(text, next)
      const first = skipBlanks(text, next)
      if (first < end && first - next < indent) break
      // Blanks beyond the indentation, and a file that ends within the block, are left to the general parser.
      if (end >= text.length || (first === end && first - next > indent)) throw NOT_PLAIN
      lines.push(text.slice(Math.min(next + indent, end), end))
      if (first < end) contentEnd = end + 1
      next = end + 1
    }
    while (lines.at(-1) === '') lines.pop()
    if (lines.length === 0 || lines[0] === '') throw NOT_PLAIN
    const value = (style === '|' ? lines.join('\n') : fold(lines)) + (strip ? '' : '\n')
    const source = text.slice(contentStart, contentEnd)
    this.#nextLine(next)
    const span = this.#span(start, contentEnd - 1)
    const token = () =>
      ({ type: 'block-scalar', source, props: [{ offset: contentStart, source: '' }] }) as unknown as ScalarToken
    return { kind: 'scalar', span, value, locate: createLocate(this.#source, { span, value, token }) }
  }

  #span(start: number, end: number): Span {
    // Places end before white space of any kind, and a scalar may end in some that YAML takes for a letter.
    if (/\s/.test(this.#text[end - 1]!)) throw NOT_PLAIN
    return { source: this.#source, start, end }
  }
}

interface Written {
  readonly type: 'scalar' | 'double-quoted-scalar' | 'single-quoted-scalar'
  readonly source: string
  readonly end: number
}

/** The entries of a map, none twice. */
class Entries {
  readonly list: MapEntry[] = []
  readonly #keys = new Set<string>()

  add(entry: MapEntry): void {
    if (this.#keys.size === this.#keys.add(entry.key).size) throw NOT_PLAIN
    this.list.push(entry)
  }

  get end(): number {
    return this.list.at(-1)!.value.span.end
  }
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (text[at] === ' ') at++
  return at
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** Behind the closing quote, which stands on the same line. */
function closingQuote(text: string, start: number): number {
  const quoted = text[start] === '"' ? /"(?:[^"\\\n]|\\[^\n])*"/y : /'(?:[^'\n]|'')*'/y
  quoted.lastIndex = start
  if (!quoted.test(text)) throw NOT_PLAIN
  return quoted.lastIndex
}

/** Escapes that mean a character each, and those of two and four digits (YAML 1.2 §5.7). */
const PLAIN_ESCAPES = /^(?:[^\\]|\\(?:[0abtnvfre "/\\N_LP]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}))*$/

function decode(type: Written['type'], source: string): string {
  const inner = source.slice(1, -1)
  if (type === 'single-quoted-scalar') return inner.replaceAll("''", "'")
  if (!inner.includes('\\')) return inner
  if (!PLAIN_ESCAPES.test(inner)) throw NOT_PLAIN
  return decodeFlow({ type, source, offset: 0 })!.text
}

/** What a plain scalar stands for (YAML 1.2 §10.3.2); a number that is not written the usual way is the text. */
function plainValue(source: string): ScalarTree['value'] {
  if (/^(?:~|[Nn]ull|NULL)$/.test(source)) return null
  if (/^(?:[Tt]rue|TRUE)$/.test(source)) return true
  if (/^(?:[Ff]alse|FALSE)$/.test(source)) return false
  if (/^-?[0-9]/.test(source) && String(Number(source)) === source) return Number(source)
  return source
}

/** Lines of one paragraph become one; blank lines between two paragraphs become their breaks (YAML 1.2 §8.1.3). */
function fold(lines: readonly string[]): string {
  // Lines that stand deeper keep their breaks, and blanks before a break their own rules.
  if (lines.some((line) => line.startsWith(' ') || line.endsWith(' '))) throw NOT_PLAIN
  return lines.join('\n').replace(/\n+/g, (breaks) => (breaks.length === 1 ? ' ' : breaks.slice(1)))
}
