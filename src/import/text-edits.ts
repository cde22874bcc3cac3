/**
 * Edits of YAML where it stands. The parser says where a node begins and ends; what is between nodes, comments and blanks
 * and the order of things, is not touched.
 */
import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Value } from '../resources/index.ts'
import { blockItem, blockPair, flowText } from './write-yaml.ts'

interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Of two texts put in at one place, the one with the larger indentation comes first. */
  readonly column: number
}

/** A comment that counts for what comes next (`definitions/suppressions.ts`). */
const SILENCES = 'quorate-lint-disable'

/** The edits of one file, made together at the end. */
export class TextEdits {
  readonly #text: string
  readonly #splices: Splice[] = []

  constructor(text: string) {
    this.#text = text
  }

  get isEmpty(): boolean {
    return this.#splices.length === 0
  }

  apply(): string {
    let text = this.#text
    const order = this.#splices
      .map((splice, index) => ({ ...splice, index }))
      .sort((a, b) => b.start - a.start || b.end - a.end || a.column - b.column || b.index - a.index)
    for (const { start, end, text: put } of order) text = text.slice(0, start) + put + text.slice(end)
    return text
  }

  renameKey(pair: Pair, name: string): void {
    const [start, end] = (pair.key as Node).range!
    this.#put(start, end, flowText(name))
  }

  /** Puts another value behind a key. */
  setValue(map: YAMLMap, pair: Pair, value: Value, depth: number): void {
    const start = (pair.key as Node).range![0]
    const key = isScalar(pair.key) ? String(pair.key.source ?? pair.key.value) : ''
    const column = this.#columnOf(start)
    const text = map.flow
      ? `${flowText(key)}: ${flowText(value)}`
      : blockPair(key, value, { indent: column, depth }).trimStart()
    this.#put(start, this.#endOf(pair), text)
  }

  /** Adds pairs at the end of a map, or of nothing behind a key. */
  addPairs(holder: Pair | undefined, body: unknown, pairs: readonly (readonly [string, Value])[], depth: number): void {
    if (pairs.length === 0) return
    const flow = pairs.map(([key, value]) => `${flowText(key)}: ${flowText(value)}`).join(', ')
    if (isMap(body) && body.flow) {
      const last = body.items.at(-1)
      if (last) this.#put(this.#endOf(last), this.#endOf(last), `, ${flow}`)
      else if (holder && !this.#isInFlow(body)) this.#replaceByBlock(holder, body, pairs, depth)
      else this.#put(body.range![0], body.range![1], `{ ${flow} }`)
      return
    }
    if (isMap(body) && body.items.length > 0) {
      const column = this.#columnOf((body.items[0]!.key as Node).range![0])
      const at = this.#lineEnd(this.#endOf(body.items.at(-1)!))
      this.#put(
        at,
        at,
        pairs.map(([key, value]) => `\n${blockPair(key, value, { indent: column, depth })}`).join(''),
        column,
      )
      return
    }
    if (holder) this.#replaceByBlock(holder, body, pairs, depth)
  }

  /** Adds elements at the end of a list that has some. */
  addItems(seq: YAMLSeq, items: readonly Value[], depth: number): void {
    const last = seq.items.at(-1) as Node
    if (seq.flow) {
      this.#put(last.range![1], last.range![1], items.map((item) => `, ${flowText(item)}`).join(''))
      return
    }
    const column = this.#columnOf(this.#dashOf(seq.items[0] as Node))
    const at = this.#lineEnd(this.#contentEnd(last))
    this.#put(at, at, items.map((item) => `\n${blockItem(item, { indent: column, depth })}`).join(''), column)
  }

  removePair(map: YAMLMap, pair: Pair): void {
    const start = (pair.key as Node).range![0]
    this.#remove(map.flow === true, start, this.#endOf(pair), {
      next: (map.items[map.items.indexOf(pair) + 1]?.key as Node | undefined)?.range?.[0],
      before: endBefore(map.items, pair, (one) => this.#endOf(one)),
      starts: map.items.map((one) => (one.key as Node).range![0]),
    })
  }

  removeItem(seq: YAMLSeq, item: Node): void {
    const start = seq.flow ? item.range![0] : this.#dashOf(item)
    this.#remove(seq.flow === true, start, this.#contentEnd(item), {
      next: (seq.items[seq.items.indexOf(item) + 1] as Node | undefined)?.range?.[0],
      before: endBefore(seq.items, item, (one) => this.#contentEnd(one as Node)),
      starts: seq.flow ? [] : seq.items.map((one) => this.#dashOf(one as Node)),
    })
  }

  /** Adds a section at the end of a file. */
  append(key: string, value: Value): void {
    const end = this.#text.trimEnd().length
    const gap = end === 0 ? '' : '\n\n'
    this.#put(end, this.#text.length, `${gap}${blockPair(key, value, { indent: 0, depth: 0 })}\n`)
  }

  #remove(
    flow: boolean,
    start: number,
    end: number,
    {
      next,
      before,
      starts,
    }: { readonly next?: number | undefined; readonly before?: number | undefined; readonly starts: readonly number[] },
  ): void {
    if (flow) {
      if (next !== undefined) this.#put(start, next, '')
      else this.#put(before ?? start, end, '')
      return
    }
    const column = this.#columnOf(start)
    // The first key of a map in a list stands behind the dash, which stays. The comments of the next one come there.
    if (this.#text.slice(start - column, start).trim() !== '') {
      const comments = next === undefined ? undefined : this.#aboveComments(next - column, column)
      this.#put(start, comments === undefined ? end : comments + column, '')
    } else {
      const after = Math.min(this.#lineEnd(end) + 1, this.#text.length)
      this.#put(this.#ownComments(start, starts), after, '')
      // On its own: what is added at the end of the line is in no other splice.
      const below = this.#belowComments(after, column)
      if (below > after) this.#put(after, below, '')
    }
  }

  /**
   * Where the comments begin that are an item's own, and go with it: those directly above it. Above the first item they are the
   * list's, and stay, where others have none, unless they silence a rule for what comes next. Above the first key of a file they are
   * the file's.
   */
  #ownComments(start: number, [first, ...others]: readonly number[]): number {
    const column = this.#columnOf(start)
    const lineStart = start - column
    const from = this.#aboveComments(lineStart, column)
    if (from === lineStart || start !== first) return from
    if (column === 0 && this.#text[start] !== '-') return lineStart
    const isOwn =
      others.length === 0 ||
      others.some((other) => this.#aboveComments(other - column, column) < other - column) ||
      this.#text.slice(from, lineStart).includes(SILENCES)
    return isOwn ? from : lineStart
  }

  /** Where the comments begin that stand directly above a line, as far in. */
  #aboveComments(lineStart: number, column: number): number {
    let from = lineStart
    while (from > 0) {
      const above = this.#text.lastIndexOf('\n', from - 2) + 1
      const [indent] = /^ *(?=#)/.exec(this.#text.slice(above, from)) ?? []
      if (indent?.length !== column) break
      from = above
    }
    return from
  }

  /** Where the comments end that follow a line and stand further in than its key. */
  #belowComments(lineStart: number, column: number): number {
    let to = lineStart
    while (to < this.#text.length) {
      const [indent] = /^ *(?=#)/.exec(this.#text.slice(to, this.#lineEnd(to))) ?? []
      if (indent === undefined || indent.length <= column) break
      to = Math.min(this.#lineEnd(to) + 1, this.#text.length)
    }
    return to
  }

  /** `key:`, `key: {}` or `key: ~` becomes `key:` with a block below; a comment on its line stays there. */
  #replaceByBlock(holder: Pair, body: unknown, pairs: readonly (readonly [string, Value])[], depth: number): void {
    const key = holder.key as Node
    const column = this.#columnOf(key.range![0])
    const range = (body as Node | null)?.range
    const from = this.#text.indexOf(':', key.range![1]) + 1
    const to = range && range[0] < range[1] ? range[1] : from
    if (to > from) this.#put(from, to, '')
    const at = this.#lineEnd(to)
    this.#put(
      at,
      at,
      pairs.map(([name, value]) => `\n${blockPair(name, value, { indent: column + 2, depth })}`).join(''),
      column + 2,
    )
  }

  #isInFlow(map: YAMLMap): boolean {
    const line = this.#text.slice(this.#text.lastIndexOf('\n', map.range![0] - 1) + 1, map.range![0])
    return /[{[]/.test(line)
  }

  #put(start: number, end: number, text: string, column = 0): void {
    this.#splices.push({ start, end, text, column })
  }

  #columnOf(offset: number): number {
    return offset - (this.#text.lastIndexOf('\n', offset - 1) + 1)
  }

  #dashOf(item: Node): number {
    return this.#text.lastIndexOf('-', item.range![0] - 1)
  }

  #lineEnd(offset: number): number {
    const end = this.#text.indexOf('\n', offset)
    return end < 0 ? this.#text.length : end
  }

  #endOf(pair: Pair): number {
    const value = pair.value as Node | null
    const key = (pair.key as Node).range!
    return value?.range && value.range[0] < value.range[1]
      ? this.#contentEnd(value)
      : this.#text.indexOf(':', key[1]) + 1
  }

  /** Where the last character of a node stands, whatever blanks and comments the parser counts to it. */
  #contentEnd(node: Node): number {
    if (isMap(node) && !node.flow && node.items.length > 0) return this.#endOf(node.items.at(-1)!)
    if (isSeq(node) && !node.flow && node.items.length > 0) return this.#contentEnd(node.items.at(-1) as Node)
    const [start, end] = node.range!
    return start + this.#text.slice(start, end).trimEnd().length
  }
}

function endBefore<T>(items: readonly T[], item: T, endOf: (one: T) => number): number | undefined {
  const index = items.indexOf(item)
  return index > 0 ? endOf(items[index - 1]!) : undefined
}
