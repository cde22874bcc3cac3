import { type Hover, MarkupKind, type Position } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { expressionAt } from '../definitions/index.ts'
import { hoverAt } from '../policy/index.ts'

/** The type and meaning of the name or operator at a position of an expression. */
export function hover(document: TextDocument, position: Position): Hover | undefined {
  const found = expressionAt(document.getText(), document.offsetAt(position))
  const said = found && hoverAt(found.field, found.value, found.offset)
  if (found === undefined || said === undefined) return undefined
  const range = {
    start: document.positionAt(found.toFile(said.start)),
    end: document.positionAt(found.toFile(said.end)),
  }
  return { range, contents: { kind: MarkupKind.Markdown, value: `\`\`\`\n${said.title}\n\`\`\`\n${said.doc}` } }
}
