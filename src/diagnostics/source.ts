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

/** Finds the line and column of an offset. */
export function positionAt(source: Source, offset: number): Position {
  const before = source.text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  let line = 1
  for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) line++
  return { line, column: [...before.slice(lineStart)].length + 1 }
}

/** The JSON form of a span: path, 1-based line and column of its start and end. */
export function toSpanJson(span: Span): {
  path: string
  line: number
  column: number
  endLine: number
  endColumn: number
} {
  const start = positionAt(span.source, span.start)
  const end = positionAt(span.source, span.end)
  return { path: span.source.path, ...start, endLine: end.line, endColumn: end.column }
}
