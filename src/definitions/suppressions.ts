import { type Source, type Span, spanAt } from '../diagnostics/index.ts'

/** A comment that suppresses a rule for the policy or tag that it stands at. */
export interface Suppression {
  readonly rule: string
  /** Empty when none is given. */
  readonly reason: string
  readonly span: Span
}

/** Something that a suppression may stand at: its name, and where the last of it ends. */
export interface Subject {
  readonly name: string
  readonly span: Span
  readonly end: number
}

const COMMENT = /(?<=^|[ \t])#[ \t]*quorate-lint-disable[ \t]+([\w-]+)[ \t]*(?::[ \t]*([^\r\n]*))?/gm

/**
 * Finds the suppressions of a file, each with its subject: the one that it stands in, or directly above in a comment.
 * One with no subject suppresses nothing.
 */
export function suppressionsOf(
  source: Source,
  subjects: readonly Subject[],
): readonly { readonly suppression: Suppression; readonly subject: string | undefined }[] {
  const here = subjects.filter(({ span }) => span.source.path === source.path)
  return [...source.text.matchAll(COMMENT)].map((match) => {
    const [written, rule = '', reason = ''] = match
    const span = spanAt(source, match.index, match.index + written.trimEnd().length)
    const subject = here.find(
      (one) => headStart(source.text, one.span.start) <= match.index && match.index < lineEnd(source.text, one.end),
    )
    return { suppression: { rule, reason: reason.trim(), span }, subject: subject?.name }
  })
}

/** The start of the comment lines directly above the line of an offset. */
function headStart(text: string, offset: number): number {
  let start = text.lastIndexOf('\n', offset - 1) + 1
  while (start > 0) {
    const above = text.lastIndexOf('\n', start - 2) + 1
    if (!/^[ \t]*#/.test(text.slice(above, start))) break
    start = above
  }
  return start
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end
}
