/**
 * Puts the keys of a file of definitions into the order of the schema, and its lines to two columns a level.
 *
 * Premise: what people write between keys is theirs. So whole lines are moved, never printed anew. A key in a block owns
 * the line it starts on to the line its value ends on; comments right above it, and comments that stand further in than
 * it does, go where it goes; so does the blank line before it. Names (of users, of policies) keep the order in which they
 * were written. Between braces, where there are no lines, the texts of pairs change places.
 */
import { type Document, isMap, isScalar, isSeq, Lexer, type Node, type Pair, visit, type YAMLMap } from 'yaml'
import type { JsonSchema } from '../resources/index.ts'
import { parsePolicyFile } from './policy-scalars.ts'
import { makeSchema } from './schema.ts'

const STEP = 2

/** The text with its keys in order; the same text where nothing is to be done, or where moving lines is not safe. */
export function arrange(text: string): string {
  if (text.includes('\r\n')) return arrange(text.replaceAll('\r\n', '\n')).replaceAll('\n', '\r\n')
  const flow = arrangeFlow(text)
  const document = parsePolicyFile(flow)
  if (!isSafe(document, flow) || !isMap(document.contents) || document.contents.flow) return flow
  return new Arranger(flow).arrange(document.contents)
}

/** The texts of all comments, sorted: none may be lost. */
export function commentsOf(text: string): readonly string[] {
  return [...new Lexer().lex(text)].filter((token) => token.startsWith('#')).sort()
}

/**
 * An alias must come after its anchor, a document's end is no key's, and the blank lines at the end of a block that
 * keeps them are part of its value: such files keep their lines where they are.
 */
function isSafe(document: Document.Parsed, text: string): boolean {
  if (document.errors.length > 0 || /^\.\.\.|^%|^\?|\t/m.test(text)) return false
  let safe = true
  const stop = () => {
    safe = false
    return visit.BREAK
  }
  visit(document, {
    Alias: stop,
    Node: (_, { anchor, tag, range }) => {
      const head = range ? text.slice(range[0], text.indexOf('\n', range[0])) : ''
      if (anchor !== undefined || (tag !== undefined && !tag.startsWith('tag:yaml.org'))) return stop()
      return /^[|>]\S*\+/.test(head) ? stop() : undefined
    },
  })
  return safe
}

class Arranger {
  readonly #text: string
  readonly #lines: readonly string[]
  readonly #starts: readonly number[]

  constructor(text: string) {
    this.#text = text.endsWith('\n') ? text : `${text}\n`
    this.#lines = this.#text.slice(0, -1).split('\n')
    let at = 0
    this.#starts = this.#lines.map((line) => {
      const start = at
      at += line.length + 1
      return start
    })
  }

  arrange(map: YAMLMap): string {
    const first = this.#lineOf(startOf(map.items[0]!))
    const head = this.#headEnd(first)
    const body = this.#block(map, { from: head, to: this.#lines.length, column: 0, schema: makeSchema() })
    return `${[...this.#lines.slice(0, head), ...body].join('\n').trimEnd()}\n`
  }

  /** Where the comments about the whole file end: after the last blank line, `---` or line for the editor above the first key. */
  #headEnd(first: number): number {
    const above = this.#lines.slice(0, first)
    return above.findLastIndex((line) => /^\s*$|^---|^# yaml-language-server:/.test(line)) + 1
  }

  /** The lines of a map or list in a block. `column` is the column that its keys or dashes move to. */
  #block(
    node: unknown,
    { from, to, column, schema }: { from: number; to: number; column: number; schema: JsonSchema | undefined },
  ): readonly string[] {
    if (isMap(node) && !node.flow && node.items.length > 0) return this.#map(node, { from, to, column, schema })
    if (isSeq(node) && !node.flow && node.items.length > 0) {
      const items = node.items as readonly Node[]
      const parts = this.#parts(
        items.map((item) => ({ start: this.#text.lastIndexOf('-', startOf(item) - 1), end: this.#endOf(item) })),
        { from, to },
      )
      const lines = parts.segments.flatMap(({ gap, lead, key, end }, index) => {
        const [item, old] = [items[index]!, columnOf(this.#lines[key]!)]
        const moved = this.#shift(key, end, column - old)
        const inner =
          isMap(item) && !item.flow ? this.#mapInItem(item, { key, end, column, schema: schema?.['items'] }) : moved
        return [...gap, ...align(lead, column), ...inner]
      })
      return [...lines, ...align(parts.tail, column)]
    }
    return this.#lines.slice(from, to)
  }

  #map(
    map: YAMLMap,
    { from, to, column, schema }: { from: number; to: number; column: number; schema: JsonSchema | undefined },
  ): readonly string[] {
    const pairs = map.items
    const { segments, tail } = this.#parts(
      pairs.map((pair) => ({ start: startOf(pair), end: this.#endOfPair(pair) })),
      { from, to },
    )
    const order = orderOf(pairs, schema)
    const first = order.indexOf(0)
    const lines = order.flatMap((index, place) => {
      const { lead, key, end } = segments[index]!
      // What comes first takes the place of what was first, and gives it the blank line that it had.
      const gap = segments[place === 0 ? 0 : place === first ? order[0]! : index]!.gap
      return [...gap, ...align(lead, column), ...this.#pair(pairs[index]!, { key, end, column, schema })]
    })
    return [...lines, ...align(tail, column)]
  }

  #pair(
    pair: Pair,
    { key, end, column, schema }: { key: number; end: number; column: number; schema: JsonSchema | undefined },
  ): readonly string[] {
    const value = pair.value
    const shift = column - columnOf(this.#lines[key]!)
    const isBlock = (isMap(value) || isSeq(value)) && !value.flow && value.items.length > 0
    if (!isBlock) return this.#shift(key, end, shift)
    const inner = this.#block(value, {
      from: key + 1,
      to: end,
      column: column + STEP,
      schema: schemaAt(schema, keyText(pair)),
    })
    return [...this.#shift(key, key + 1, shift), ...inner]
  }

  /** A map that begins behind a dash: its first key stands on the dash's line. */
  #mapInItem(
    map: YAMLMap,
    { key, end, column, schema }: { key: number; end: number; column: number; schema: unknown },
  ): readonly string[] {
    const line = this.#lines[key]!
    const behind = startOf(map.items[0]!) - this.#starts[key]!
    const dash = line.slice(columnOf(line), behind)
    if (this.#lineOf(startOf(map.items[0]!)) !== key) return this.#shift(key, end, column - columnOf(line))
    const blanked = new Arranger(
      this.#text.slice(0, this.#starts[key]!) + ' '.repeat(behind) + this.#text.slice(this.#starts[key]! + behind),
    )
    const inner = blanked.#map(map, { from: key, to: end, column: column + dash.length, schema: schema as JsonSchema })
    const [head = '', ...rest] = inner
    // Its first line is now a comment, and nothing may stand between a dash and its map.
    if (head.trimStart().startsWith('#') || head.trim() === '') return this.#shift(key, end, column - columnOf(line))
    return [' '.repeat(column) + dash + head.slice(column + dash.length), ...rest]
  }

  /** Each entry with what goes where it goes, and what follows the last and stays at the end. */
  #parts(
    entries: readonly { readonly start: number; readonly end: number }[],
    { from, to }: { readonly from: number; readonly to: number },
  ): { readonly segments: readonly Segment[]; readonly tail: readonly string[] } {
    const segments: Segment[] = []
    let above = from
    entries.forEach(({ start, end }, index) => {
      const key = this.#lineOf(start)
      const column = columnOf(this.#lines[key]!)
      const next = entries[index + 1] ? this.#lineOf(entries[index + 1]!.start) : to
      let last = this.#lineOf(end - 1) + 1
      for (let line = last; line < next; line++)
        if (isComment(this.#lines[line]!) && columnOf(this.#lines[line]!) > column) last = line + 1
      const between = this.#lines.slice(above, key)
      const blank = between.findIndex((line) => line.trim() !== '')
      const lead = blank < 0 ? [] : between.slice(blank)
      segments.push({ gap: blank === 0 || between.length === 0 ? [] : [''], lead, key, end: last })
      above = last
    })
    const tail = this.#lines.slice(above, to)
    return { segments, tail: tail.every((line) => line.trim() === '') ? [] : tail }
  }

  #shift(from: number, to: number, by: number): readonly string[] {
    return this.#lines.slice(from, to).map((line) => {
      if (by === 0 || line.trim() === '') return line
      return by > 0 ? ' '.repeat(by) + line : line.slice(Math.min(-by, columnOf(line)))
    })
  }

  #lineOf(offset: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  #endOfPair({ key, value }: Pair): number {
    const range = (value as Node | null)?.range
    if (range && range[0] < range[1]) return this.#endOf(value as Node)
    return this.#text.indexOf(':', (key as Node).range![1]) + 1
  }

  #endOf(node: Node): number {
    if (isMap(node) && !node.flow && node.items.length > 0) return this.#endOfPair(node.items.at(-1)!)
    if (isSeq(node) && !node.flow && node.items.length > 0) return this.#endOf(node.items.at(-1) as Node)
    const [start, end] = node.range!
    return Math.max(start + 1, start + this.#text.slice(start, end).trimEnd().length)
  }
}

/** Lines of one entry: the blank line and the comments above it, its own from `key` to before `end`. */
interface Segment {
  readonly gap: readonly string[]
  readonly lead: readonly string[]
  readonly key: number
  readonly end: number
}

/** Between braces the texts of pairs change places; what is between them stays. */
function arrangeFlow(text: string): string {
  const document = parsePolicyFile(text)
  if (!isSafe(document, text)) return text
  const splices: { readonly start: number; readonly end: number; readonly text: string }[] = []
  const walk = (node: unknown, schema: JsonSchema | undefined): void => {
    if (isSeq(node)) for (const item of node.items) walk(item, schema?.['items'] as JsonSchema | undefined)
    if (!isMap(node)) return
    const order = orderOf(node.items, schema)
    const inOrder = order.every((one, place) => one === place)
    const places = node.items.map((pair) => ({
      start: startOf(pair),
      end: ((pair.value as Node | null)?.range ?? (pair.key as Node).range!)[1],
    }))
    const whole = text.slice(node.range![0], node.range![1])
    if (node.flow && !inOrder && commentsOf(whole).length === 0 && places.every(({ start, end }) => start < end)) {
      // Nested maps are put in order by the next pass.
      order.forEach((one, place) => {
        splices.push({ ...places[place]!, text: text.slice(places[one]!.start, places[one]!.end) })
      })
      return
    }
    for (const pair of node.items) walk(pair.value, schemaAt(schema, keyText(pair)))
  }
  walk(document.contents, makeSchema())
  if (splices.length === 0) return text
  let arranged = text
  for (const one of splices.sort((a, b) => b.start - a.start))
    arranged = arranged.slice(0, one.start) + one.text + arranged.slice(one.end)
  return arrangeFlow(arranged)
}

/** The places of pairs in the order of the schema; as they are where keys are names, or one is unknown. */
function orderOf(pairs: readonly Pair[], schema: JsonSchema | undefined): readonly number[] {
  const known = Object.keys(propertiesOf(schema) ?? {})
  const ranks = pairs.map((pair) => known.indexOf(keyText(pair)))
  const places = pairs.map((_, index) => index)
  return ranks.includes(-1) ? places : places.sort((a, b) => ranks[a]! - ranks[b]! || a - b)
}

function propertiesOf(schema: JsonSchema | undefined): Readonly<Record<string, JsonSchema>> | undefined {
  const branch = schema?.['then'] as JsonSchema | undefined
  return (schema?.['properties'] ?? branch?.['properties']) as Readonly<Record<string, JsonSchema>> | undefined
}

/** The schema of the value of a key: that of the property, or of additional properties. */
function schemaAt(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  const properties = propertiesOf(schema)
  if (properties && Object.hasOwn(properties, key)) return properties[key]
  const others = schema?.['additionalProperties']
  return typeof others === 'object' ? (others as JsonSchema) : undefined
}

function keyText({ key }: Pair): string {
  return isScalar(key) ? String(key.source ?? key.value) : ''
}

function startOf(one: Pair | Node): number {
  return ('key' in one ? (one.key as Node) : (one as Node)).range![0]
}

function columnOf(line: string): number {
  return line.length - line.trimStart().length
}

function isComment(line: string): boolean {
  return line.trimStart().startsWith('#')
}

/** Comments of a block stand where its keys do; of blank lines between them one is kept. */
function align(lines: readonly string[], column: number): readonly string[] {
  return lines
    .filter((line, index) => line.trim() !== '' || lines[index - 1]?.trim() !== '')
    .map((line) => (line.trim() === '' ? '' : ' '.repeat(column) + line.trimStart()))
}
