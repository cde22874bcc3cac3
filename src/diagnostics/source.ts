import { withoutKeys } from './key-material.ts'

/** A text that a person wrote, with the path it is shown by. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** A stretch of a source: offsets in UTF-16 units from 0, start inclusive, end exclusive. */
export interface Span {
  readonly source: Source
  readonly start: number
  readonly end: number
}

/** Line and column, both from 1; a column counts characters (code points). */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Makes a source; CR LF is kept as it is, so that offsets fit the file. */
export function createSource(path: string, text: string): Source {
  return { path, text }
}

/** Makes a span, clamped to the source's text. */
export function spanAt(source: Source, start: number, end: number = start): Span {
  const from = Math.max(0, Math.min(start, source.text.length))
  return { source, start: from, end: Math.max(from, Math.min(end, source.text.length)) }
}

interface Found extends Position {
  readonly offset: number
}

/** The place that was found last in each source: places are mostly asked for in their order, and files may be long. */
const lastFound = new WeakMap<Source, Found>()

/** Finds the line and column of an offset. */
export function positionAt(source: Source, offset: number): Position {
  const { text } = source
  const end = Math.min(offset, text.length)
  const known = lastFound.get(source)
  let { offset: at, line, column } = known && known.offset <= end ? known : { offset: 0, line: 1, column: 1 }
  for (; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (unit === LINE_BREAK) {
      line++
      column = 1
    } else if (!(isSecondHalf(unit) && isFirstHalf(text.charCodeAt(at - 1)))) column++
  }
  lastFound.set(source, { offset: at, line, column })
  return { line, column }
}

const LINE_BREAK = 0x0a

/** The halves of characters beyond 16 bits. */
const isFirstHalf = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isSecondHalf = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** The JSON form of a span: path (what looks like a key in it is not shown), 1-based line and column of its start and end. */
export function toSpanJson(span: Span): {
  path: string
  line: number
  column: number
  endLine: number
  endColumn: number
} {
  const start = positionAt(span.source, span.start)
  const end = positionAt(span.source, span.end)
  return { path: withoutKeys(span.source.path), ...start, endLine: end.line, endColumn: end.column }
}
