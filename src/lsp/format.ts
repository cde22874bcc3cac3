import type { TextEdit } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { formatDefinitions } from '../definitions/index.ts'
import { createSource } from '../diagnostics/index.ts'

/** Formats a document: one edit, from the first character that changes to the last. */
export function format(document: TextDocument): TextEdit[] {
  const before = document.getText()
  const { text: after } = formatDefinitions(createSource(document.uri, before))
  if (before === after) return []
  let start = 0
  while (before[start] === after[start]) start++
  let [end, newEnd] = [before.length, after.length]
  while (end > start && newEnd > start && before[end - 1] === after[newEnd - 1]) {
    end--
    newEnd--
  }
  return [
    {
      range: { start: document.positionAt(start), end: document.positionAt(end) },
      newText: after.slice(start, newEnd),
    },
  ]
}
