import { codePoint, type Diagnostic, diagnostic, findUnseen, positionAt, spanAt } from '../diagnostics/index.ts'
import { mapScalars, type ScalarTree, type Tree } from './tree.ts'

/**
 * Reports texts that read differently from how they look: the first invisible character of each text of the files, such as a
 * condition, a note or an address. Line breaks and indents are allowed. A place that `others` already report is left out.
 */
export function checkSeen(files: readonly Tree[], others: readonly Diagnostic[]): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const look = (scalar: ScalarTree) => {
    const { value, locate } = scalar
    // Most texts are of letters, digits and signs alone.
    if (typeof value !== 'string' || /^[ -~\n\t]*$/.test(value)) return scalar
    // A blank in place of each, so that a combining mark keeps the character before it.
    const unseen = findUnseen(value.replace(/[\n\r\t]/g, ' '))
    if (!unseen) return scalar
    const { index, character } = unseen
    const message = `expected text that can be seen, got ${codePoint(character)}`
    const help = 'remove it: who reads this would not see all of what it says'
    found.push(diagnostic('definitions/unseen', message, locate(index, index + character.length), { help }))
    return scalar
  }
  for (const file of files) mapScalars(file, look)
  const isSaid = ({ span }: Diagnostic) =>
    others.some(
      ({ code, span: { source, start, end } }) =>
        (code === 'definitions/bad-name' || code === 'policy/unexpected-character') &&
        source === span.source &&
        start <= span.start &&
        span.end <= Math.max(end, start + 1),
    )
  const said = found.filter((one) => !isSaid(one))
  return [...said, ...checkLines(files, [...others, ...said])]
}

/**
 * What other programs end a line by (Unicode §5.8), and what turns one (UAX #9), wherever it stands: an editor would show what is
 * behind it in a remark as a line of the definition.
 */
const LINES = /\r(?!\n)|[\v\f\u0085\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Lines of remarks that are seen otherwise than they are read. A line of which something is said already is left alone. */
function checkLines(files: readonly Tree[], others: readonly Diagnostic[]): readonly Diagnostic[] {
  const sources = new Set(files.map(({ span }) => span.source))
  return [...sources].flatMap((source) => {
    const lineOf = (at: number) => positionAt(source, at).line
    const said = new Set(others.flatMap(({ span }) => (span.source === source ? [lineOf(span.start)] : [])))
    return [...source.text.matchAll(LINES)].slice(0, 5).flatMap(({ 0: character, index }) => {
      if (said.has(lineOf(index))) return []
      const message = `expected lines as they are seen, got ${codePoint(character)}`
      const help = 'remove it: who reads this would see other lines than are read'
      return [diagnostic('definitions/unseen', message, spanAt(source, index, index + 1), { help })]
    })
  })
}
