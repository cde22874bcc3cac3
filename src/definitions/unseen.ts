import { codePoint, type Diagnostic, diagnostic, findUnseen } from '../diagnostics/index.ts'
import { mapScalars, type ScalarTree, type Tree } from './tree.ts'

/**
 * Texts that say something else than what is seen: the first character of each that cannot be seen, in a condition, a note, an
 * address, whatever it is. Lines may be broken and indented. What `others` have said of a place is not said again.
 */
export function checkSeen(files: readonly Tree[], others: readonly Diagnostic[]): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const look = (scalar: ScalarTree) => {
    const { value, locate } = scalar
    // Most texts are of letters, digits and signs alone.
    if (typeof value !== 'string' || /^[ -~\n\t]*$/.test(value)) return scalar
    // A blank in place of each, so that a mark keeps what stands before it.
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
  return found.filter((one) => !isSaid(one))
}
