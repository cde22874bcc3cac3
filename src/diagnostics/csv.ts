import { printable } from './printable.ts'

/** One line of CSV (RFC 4180), with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

/** A spreadsheet takes what begins like a formula for one, and runs it: a mark before it makes it text (OWASP, CSV injection). */
function quoted(text: string): string {
  const shown = printable(text)
  const inert = /^\s*[=+\-@＝＋－＠]/.test(shown) ? `'${shown}` : shown
  return /[",;]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
