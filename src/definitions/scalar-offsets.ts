import type { CST } from 'yaml'
import { type Source, type Span, spanAt } from '../diagnostics/index.ts'
import type { ScalarTree } from './tree.ts'

export type ScalarToken = CST.FlowScalar | CST.BlockScalar

/** Makes what finds the place of a stretch of a scalar's text, reading its token only when it is asked. */
export function createLocate(
  source: Source,
  {
    span,
    value,
    token,
  }: { readonly span: Span; readonly value: ScalarTree['value']; readonly token: () => ScalarToken | undefined },
): ScalarTree['locate'] {
  let offsets: readonly number[] | undefined
  return (start, end) => {
    const written = typeof value === 'string' ? token() : undefined
    if (!written) return span
    if (written.type === 'scalar' && written.source === value) {
      // It stands there as it is.
      const at = (offset: number) => written.offset + Math.min(offset, value.length)
      return spanAt(source, at(start), at(Math.max(start, end)))
    }
    offsets ??= scalarOffsets(written, value as string)
    if (!offsets) return span
    const from = offsets[start] ?? offsets.at(-1)!
    // The end is that of the last character, so that a marked stretch never runs into the next line's indentation.
    const to = end > start ? (offsets[end - 1] ?? from) + 1 : from
    return spanAt(source, from, Math.max(from, to))
  }
}

/**
 * Where each character of a YAML scalar's value stands in its file. A value is not a stretch of the file: quotes are
 * doubled, escapes are decoded, lines are folded, blocks lose their indentation. So the token is decoded once more,
 * by the rules of YAML 1.2 §7.3 and §8.1, with the offset of each UTF-16 unit noted. Where the result is not the value
 * the parser found (none is known), there are no offsets, and the whole scalar is marked instead: never a wrong place.
 *
 * Returns one offset for each unit of `value` and one for its end.
 */
export function scalarOffsets(token: ScalarToken, value: string): readonly number[] | undefined {
  const decoded = token.type === 'block-scalar' ? alignBlock(token, value) : decodeFlow(token)
  return decoded?.text === value ? decoded.offsets : undefined
}

interface Decoded {
  readonly text: string
  readonly offsets: readonly number[]
}

/** Escapes of double-quoted scalars that stand for one character (YAML 1.2 §5.7). */
const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
}
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** Decodes a plain or quoted scalar, with the place of each unit; undefined for an escape that stands for no character. */
export function decodeFlow({
  type,
  source,
  offset,
}: Pick<CST.FlowScalar, 'type' | 'source' | 'offset'>): Decoded | undefined {
  const quoted = type === 'double-quoted-scalar' || type === 'single-quoted-scalar'
  const start = quoted ? 1 : 0
  const end = source.length - start
  let text = ''
  const offsets: number[] = []
  const emit = (units: string, at: number) => {
    for (let i = 0; i < units.length; i++) offsets.push(offset + at)
    text += units
  }
  let at = start
  while (at < end) {
    const fold = /[ \t]*\r?\n[ \t\r\n]*/y
    fold.lastIndex = at
    const lines = fold.exec(source)
    if (lines && at + lines[0].length <= end) {
      const breaks = lines[0].split('\n').length - 1
      emit(breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), at)
      at += lines[0].length
    } else if (type === 'double-quoted-scalar' && source[at] === '\\') {
      const continued = /\\\r?\n[ \t]*/y
      continued.lastIndex = at
      const skip = continued.exec(source)
      const letter = source[at + 1] ?? ''
      const digits = HEX_DIGITS[letter] ?? 0
      if (skip) {
        at += skip[0].length
      } else if (digits > 0) {
        const code = Number.parseInt(source.slice(at + 2, at + 2 + digits), 16)
        if (!(code <= 0x10ffff)) return undefined
        emit(String.fromCodePoint(code), at)
        at += 2 + digits
      } else {
        emit(ESCAPES[letter] ?? '', at)
        at += 2
      }
    } else if (type === 'single-quoted-scalar' && source.startsWith("''", at)) {
      emit("'", at)
      at += 2
    } else {
      emit(source[at]!, at)
      at += 1
    }
  }
  offsets.push(offset + end)
  return { text, offsets }
}

/**
 * Walks the lines of a block beside its value: a line's content stands in the value as it is; what lies between two
 * lines there (line feeds, or a blank where they were folded) stands at the break.
 */
function alignBlock({ source, props }: CST.BlockScalar, value: string): Decoded | undefined {
  // The content begins after the header, its comment and the line break.
  const before = props.at(-1)
  if (!before || !('source' in before)) return undefined
  const offset = before.offset + before.source.length
  const lines = splitLines(source)
  const first = lines.find(({ text }) => text.trim() !== '')
  const indent = first ? leading(first.text) - leading(value.replace(/^\n+/, '')) : 0
  const offsets: number[] = []
  let end = offset
  for (const { text, start } of lines) {
    if (offsets.length === value.length) break
    const content = text.slice(indent)
    if (!value.startsWith(content, offsets.length)) return undefined
    const from = Math.min(indent, text.length)
    for (let i = 0; i < content.length; i++) offsets.push(offset + start + from + i)
    end = offset + start + text.length
    const folded = value[offsets.length] === ' ' && source.length > start + text.length
    if (folded || value[offsets.length] === '\n') offsets.push(end)
  }
  offsets.push(end)
  return { text: offsets.length === value.length + 1 ? value : '', offsets }
}

function splitLines(source: string): readonly { readonly text: string; readonly start: number }[] {
  let start = 0
  return source.split('\n').map((line) => {
    const at = start
    start += line.length + 1
    return { text: line.replace(/\r$/, ''), start: at }
  })
}

function leading(text: string): number {
  return text.length - text.trimStart().length
}
