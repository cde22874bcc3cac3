import type { Location, Position } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { nameAt } from '../definitions/index.ts'
import { toLocation } from './positions.ts'
import type { Names } from './workspace.ts'

/** Where the name at a position is defined. */
export function define(document: TextDocument, position: Position, names: Names): Location | undefined {
  const found = nameAt(document.getText(), document.offsetAt(position))
  const span = found?.addresses.map((address) => names.get(address)).find((one) => one !== undefined)
  return span && toLocation(span)
}
