import { printable } from './printable.ts'

/** A text from outside in a line of GitHub-flavoured Markdown: nothing in it is markup, a mention or a link, and its own backticks stay code. */
export function markdownText(text: string): string {
  const pieces = printable(text).split(/(`[^`]+`)/)
  return pieces.map((piece, index) => (index % 2 === 1 ? markdownCode(piece.slice(1, -1)) : plain(piece))).join('')
}

/** A text from outside as code, in a table too. The fence has more backticks than are in it; nothing else ends code, but for `|` in a table. */
export function markdownCode(text: string): string {
  const shown = printable(text).replaceAll('|', '\\|')
  const fence = '`'.repeat(1 + Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length)))
  return fence === '`' ? fence + shown + fence : `${fence} ${shown} ${fence}`
}

/** What GitHub turns into a mention, a link, an emoji or a formula by itself is broken by an escape or an entity, which reads the same. */
function plain(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>#|~!$]/g, (c) => `\\${c}`)
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/^[-+=]/, '\\$&')
    .replace(/^(\d+)([.)])/, '$1\\$2')
    .replaceAll('@', '&#64;')
    .replace(/:(?=\/\/|[a-z_+-][\w+-]*:)/gi, '&#58;')
    .replace(/www\./gi, (c) => `${c.slice(0, -1)}&#46;`)
}
