import type { Diagnostic } from './diagnostic.ts'
import { toErrorJson } from './error.ts'
import { blankKeys, withoutKeys } from './key-material.ts'
import { printable } from './printable.ts'
import { positionAt, type Source, type Span } from './source.ts'

/** Styles of the parts of a rendered fault; the identity by default, terminal colours in the CLI. */
export interface FaultStyles {
  readonly error?: (text: string) => string
  readonly warning?: (text: string) => string
  readonly dim?: (text: string) => string
}

/**
 * Renders diagnostics as text: `path:line:column: severity code: message`, the line with the span marked, related
 * places, help. Ends with a line break when there is anything.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], styles: FaultStyles = {}): string {
  // A key is blanked in the whole file, for one in PEM has many lines, and another fault may stand in its line.
  const hidden = Map.groupBy(
    diagnostics.flatMap((one) => (one.isHidden ? [one.span] : [])),
    ({ source }) => source,
  )
  const blanked = new Map<Source, Source>()
  const blank = (span: Span): Span => {
    const { source } = span
    if (!blanked.has(source)) {
      const text = (hidden.get(source) ?? []).reduce(blankSpan, blankKeys(source.text))
      blanked.set(source, { ...source, text })
    }
    return { ...span, source: blanked.get(source)! }
  }
  return diagnostics.map((one) => renderDiagnostic({ ...one, span: blank(one.span) }, styles)).join('\n')
}

function blankSpan(text: string, { start, end }: Span): string {
  return text.slice(0, start) + text.slice(start, end).replace(/[^\r\n]/g, '*') + text.slice(end)
}

function renderDiagnostic(fault: Diagnostic, styles: FaultStyles): string {
  const colour = (fault.severity === 'error' ? styles.error : styles.warning) ?? ((text: string) => text)
  let text = `${place(fault.span)}: ${colour(fault.severity)} ${fault.code}: ${printable(fault.message)}\n`
  text += excerpt(fault.span)
  for (const { message, span } of fault.related) text += `  ${place(span)}: ${printable(message)}\n`
  if (fault.help) text += `  help: ${printable(fault.help)}\n`
  return text
}

/** Renders an error as text: code and message, its facts as a table, what to do next. */
export function renderError(error: unknown, styles: FaultStyles = {}): string {
  const { code, message, facts, next } = toErrorJson(error)
  // A sentence of somebody else's that the message has said already.
  const isSaid = (value: unknown) => typeof value === 'string' && /\s/.test(value) && message.includes(`: ${value}`)
  const rows = [
    ...Object.entries(facts).flatMap(([name, value]) => (isSaid(value) ? [] : [[name, String(value)]])),
    ...(next ? [['next', next]] : []),
  ]
  const width = Math.max(0, ...rows.map(([name]) => name!.length))
  const colour = styles.error ?? ((text: string) => text)
  const table = rows.map(([name, value]) => `  ${name!.padEnd(width)}  ${printable(value!)}\n`).join('')
  return `${colour('error')} ${code}: ${printable(message)}\n${table}`
}

function place({ source, start }: Span): string {
  const { line, column } = positionAt(source, start)
  return `${printable(withoutKeys(source.path))}:${line}:${column}`
}

/** Characters of a line that are shown: a mistake in a line of a million characters must not print a million. */
const WIDEST = 200
/** How many of them stand before what is marked where the line is longer. */
const BEFORE = 60

/** The first line of a span with a row of carets below what is marked. Tabs are shown as they are, below as above. */
function excerpt({ source, start, end }: Span): string {
  const lineStart = source.text.lastIndexOf('\n', start - 1) + 1
  const lineBreak = source.text.indexOf('\n', start)
  const lineEnd = lineBreak < 0 ? source.text.length : lineBreak
  const from = lineEnd - lineStart > WIDEST ? Math.max(lineStart, start - BEFORE) : lineStart
  const to = Math.min(lineEnd, from + WIDEST)
  const line = source.text.slice(from, to).replace(/\r$/, '')
  if (line.trim() === '') return ''
  const [head, tail] = [from > lineStart ? '…' : '', to < lineEnd ? '…' : '']
  const number = String(positionAt(source, start).line)
  // Measured as shown: an escaped control character is wider than it was.
  const indent = [...head, ...printableLine(source.text.slice(from, start))]
    .map((c) => (c === '\t' ? '\t' : ' '))
    .join('')
  const marked = Math.max(1, [...printableLine(source.text.slice(start, Math.min(end, from + line.length)))].length)
  return `${number.padStart(4)} │ ${head}${printableLine(line)}${tail}\n${' '.repeat(4)} │ ${indent}${'^'.repeat(marked)}\n`
}

/** A line of a source with its tabs. */
function printableLine(text: string): string {
  return text.split('\t').map(printable).join('\t')
}
