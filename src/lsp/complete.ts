import { type CompletionItem, CompletionItemKind, type Position } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { emptyFieldAt, expressionAt } from '../definitions/index.ts'
import { type Completion, completeAt, type PolicyField } from '../policy/index.ts'
import { KINDS, kinds, parseAddress } from '../resources/index.ts'
import type { Names } from './workspace.ts'

const itemKinds: Readonly<Record<Completion['kind'], CompletionItemKind>> = {
  root: CompletionItemKind.Module,
  field: CompletionItemKind.Field,
  method: CompletionItemKind.Method,
  function: CompletionItemKind.Function,
  variable: CompletionItemKind.Variable,
  word: CompletionItemKind.EnumMember,
}

/** What may be written at a position: names in `${…}`, and the words of the language in an expression. */
export function complete(document: TextDocument, position: Position, names: Names): CompletionItem[] {
  const text = document.getText()
  const cursor = document.offsetAt(position)
  const reference = completeReference(document, cursor, names)
  if (reference !== undefined) return reference
  const empty = emptyFieldAt(text, cursor)
  if (empty !== undefined) return toItems(document, empty, '', 0, () => cursor, names)
  const found = expressionAt(text, cursor)
  if (found === undefined) return []
  // Blanks behind a plain value are not part of it yet.
  const { value, offset, toFile, field } = found
  const written = `${value.slice(0, offset)}${text.slice(toFile(offset), cursor)}`
  const shift = cursor - written.length
  const isOneStretch = text.slice(shift, cursor) === written
  return toItems(document, field, written, written.length, (at) => (isOneStretch ? shift + at : toFile(at)), names)
}

function toItems(
  document: TextDocument,
  field: PolicyField,
  text: string,
  offset: number,
  toFile: (offset: number) => number,
  names: Names,
): CompletionItem[] {
  const { items, start } = completeAt(field, text, offset)
  const range = { start: document.positionAt(toFile(start)), end: document.positionAt(toFile(offset)) }
  const own = items.map(
    ({ label, kind, insert, detail, doc }): CompletionItem => ({
      label,
      kind: itemKinds[kind],
      detail,
      ...(doc === '' ? {} : { documentation: doc }),
      textEdit: { range, newText: insert ?? label },
    }),
  )
  return [...own, ...comparedNames(text.slice(0, offset), names).map((label) => nameItem(label, range))]
}

/**
 * Inside of quotes, names of the kind whose ids the text before them compares with: `user.tags.contains('…`,
 * `wallet.id == '…`.
 */
function comparedNames(before: string, names: Names): readonly string[] {
  const compared = /([\w.]+?)(?:\.contains\(\s*|\s*(?:==|!=|in\s*\[(?:\s*'[^']*'\s*,)*)\s*)'[^']*$/.exec(before)?.[1]
  if (compared === undefined) return []
  const kind = /\.tags$/.test(compared)
    ? 'tag'
    : compared === 'wallet.id'
      ? 'wallet'
      : compared === 'private_key.id'
        ? 'privateKey'
        : /\.(?:user_)?id$/.test(compared)
          ? 'user'
          : undefined
  return [...names.keys()].filter((address) => parseAddress(address)?.kind === kind).map((address) => `\${${address}}`)
}

function nameItem(label: string, range: { start: Position; end: Position }): CompletionItem {
  return {
    label,
    kind: CompletionItemKind.Reference,
    detail: 'a name of these definitions',
    textEdit: { range, newText: label },
  }
}

/** After `${`: the kinds that have names, and after a kind its names. */
function completeReference(document: TextDocument, cursor: number, names: Names): CompletionItem[] | undefined {
  const text = document.getText()
  const line = text.slice(text.lastIndexOf('\n', cursor - 1) + 1, cursor)
  const open = /(?<!\$)\$\{([A-Za-z]*)(\.[\w-]*)?$/.exec(line)
  if (open === null) return undefined
  const [written, kind = '', name] = open
  const start = cursor - written.length + 2
  const closed = text[cursor] === '}' ? '' : '}'
  const range = { start: document.positionAt(start), end: document.positionAt(cursor) }
  if (name === undefined) {
    const words = [...KINDS.filter((one) => kinds[one].referable), 'env', 'var']
    return words.map((word) => ({
      label: word,
      kind: CompletionItemKind.Keyword,
      detail: word === 'env' ? 'an environment variable' : word === 'var' ? 'a variable' : kinds[word as 'tag'].one,
      textEdit: { range, newText: `${word}.` },
    }))
  }
  return [...names.keys()]
    .filter((address) => parseAddress(address)?.kind === kind)
    .map((address) => ({
      label: parseAddress(address)!.names.join('.'),
      kind: CompletionItemKind.Reference,
      detail: address,
      textEdit: { range, newText: `${address}${closed}` },
      filterText: address,
    }))
}
