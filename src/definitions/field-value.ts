import { type Diagnostic, diagnostic, type Span } from '../diagnostics/index.ts'
import {
  type Address,
  type FieldRow,
  formatAddress,
  kinds,
  parseAddress,
  type Reference,
  type Value,
} from '../resources/index.ts'
import { parseTemplate } from './template.ts'
import { type ScalarTree, type Tree, textOf } from './tree.ts'

/** One use of a name: what it refers to, and where. */
export interface NameUse {
  readonly address: Address
  readonly span: Span
}

export interface FieldValue {
  /** Absent when the shape is wrong or a part of it is missing; both are reported elsewhere. */
  readonly value?: Value
  readonly uses: readonly NameUse[]
  readonly expression?: ScalarTree
  readonly diagnostics: readonly Diagnostic[]
}

const NOTHING: FieldValue = { uses: [], diagnostics: [] }

/**
 * Reads one field: names become references, an expression a text with references, any other value is taken as it is
 * written.
 */
export function fieldValue(row: FieldRow, tree: Tree): FieldValue {
  if (row.names) return tree.kind === 'scalar' ? singleName(row, tree) : nameList(row, tree)
  if (tree.kind !== 'scalar') return hasType(row, TYPE_OF[tree.kind]) ? structure(tree) : NOTHING
  if (tree.missing) return NOTHING
  if (row.expression) return expression(row, tree)
  return plain(tree)
}

const TYPE_OF = { list: 'array', map: 'object' } as const

/** Whether the row's schema lets a list or a map stand there. */
function hasType(row: FieldRow, type: 'array' | 'object'): boolean {
  return [row.schema?.['type']].flat().includes(type)
}

/** A list or a map with all that is in it; left out when a part of it is missing. */
function structure(tree: Tree): FieldValue {
  if (tree.kind === 'scalar') return tree.missing ? NOTHING : plain(tree)
  const keys = tree.kind === 'list' ? tree.items.map((_, index) => index) : tree.entries.map(({ key }) => key)
  const parts = (tree.kind === 'list' ? tree.items : tree.entries.map(({ value }) => value)).map((part) =>
    part.kind === 'scalar' && part.value === null ? { ...NOTHING, value: null } : structure(part),
  )
  const diagnostics = parts.flatMap((part) => part.diagnostics)
  if (parts.some(({ value }) => value === undefined)) return { ...NOTHING, diagnostics }
  const values = parts.map(({ value }) => value!)
  const value = tree.kind === 'list' ? values : Object.fromEntries(keys.map((key, index) => [key, values[index]!]))
  return { ...NOTHING, value, diagnostics }
}

/** A scalar that stands for itself. */
function plain(tree: ScalarTree): FieldValue {
  if (typeof tree.value !== 'string') return tree.value === null ? NOTHING : { ...NOTHING, value: tree.value }
  const pieces = parseTemplate(tree.value)
  const reference = pieces.find(({ kind }) => kind === 'reference')
  if (reference) {
    const message = `\`${tree.value.slice(reference.start, reference.end)}\` stands where only a plain text may`
    const help =
      'names become ids in policy expressions and in lists of names; write `$${` for a `${` that stands for itself'
    const span = tree.locate(reference.start, reference.end)
    return { ...NOTHING, diagnostics: [diagnostic('definitions/reference-not-here', message, span, { help })] }
  }
  return { ...NOTHING, value: pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('') }
}

/** One name of a kind: bare, or as a reference to that kind. */
function singleName(row: FieldRow, tree: ScalarTree): FieldValue {
  const text = textOf(tree)
  if (text === undefined || tree.missing || !hasText(row)) return NOTHING
  const address = nameIn(text, row)
  return address === undefined
    ? { ...NOTHING, diagnostics: [noName(text, row, tree)] }
    : { value: { $ref: address }, uses: [{ address, span: tree.span }], diagnostics: [] }
}

function hasText(row: FieldRow): boolean {
  return row.schema?.['type'] === 'string'
}

function noName(text: string, row: FieldRow, { span }: Tree): Diagnostic {
  const message = `expected the name of a ${kinds[row.names!].one}, got \`${text}\``
  return diagnostic('definitions/wrong-value', message, span, {
    help: `write the name, or \`\${${row.names}.name}\``,
  })
}

/** A list of names of one kind: bare, or as a reference to that kind. */
function nameList(row: FieldRow, tree: Tree): FieldValue {
  if (tree.kind !== 'list') return NOTHING
  const uses: NameUse[] = []
  const diagnostics: Diagnostic[] = []
  for (const item of tree.items) {
    const text = textOf(item)
    if (text === undefined || (item.kind === 'scalar' && item.missing)) continue
    const address = nameIn(text, row)
    if (address === undefined) {
      diagnostics.push(noName(text, row, item))
    } else if (uses.some((use) => use.address === address)) {
      diagnostics.push(diagnostic('definitions/listed-twice', `\`${text}\` is in this list twice`, item.span))
    } else {
      uses.push({ address, span: item.span })
    }
  }
  return { value: uses.map(({ address }): Reference => ({ $ref: address })), uses, diagnostics }
}

function nameIn(text: string, row: FieldRow): Address | undefined {
  const pieces = parseTemplate(text)
  const [only] = pieces
  if (pieces.length === 1 && only?.kind === 'reference') {
    return parseAddress(only.address)?.kind === row.names ? only.address : undefined
  }
  const plain = pieces.every(({ kind }) => kind === 'text') && pieces.length > 0
  return plain
    ? formatAddress(row.names!, pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''))
    : undefined
}

function expression(row: FieldRow, tree: ScalarTree): FieldValue {
  if (typeof tree.value !== 'string') return NOTHING
  if (tree.value.trim() === '') {
    const help = 'write `true` for one that always holds, or leave the key out'
    const message = `an empty \`${row.expression}\` is refused by the API`
    return { ...NOTHING, diagnostics: [diagnostic('definitions/empty-expression', message, tree.span, { help })] }
  }
  const uses: NameUse[] = []
  const parts: (string | Reference)[] = []
  for (const piece of parseTemplate(tree.value)) {
    if (piece.kind === 'reference') {
      uses.push({ address: piece.address, span: tree.locate(piece.start, piece.end) })
      parts.push({ $ref: piece.address })
    } else if (piece.kind === 'text') {
      const last = parts.at(-1)
      if (typeof last === 'string') parts[parts.length - 1] = last + piece.text
      else parts.push(piece.text)
    }
  }
  return { value: trimText(parts), uses, expression: tree, diagnostics: [] }
}

/** A block scalar ends in a line break that means nothing to the language and would show in every difference. */
function trimText(parts: readonly (string | Reference)[]): Value {
  const trimmed = parts
    .map((part, index) => {
      if (typeof part !== 'string') return part
      const left = index === 0 ? part.trimStart() : part
      return index === parts.length - 1 ? left.trimEnd() : left
    })
    .filter((part) => part !== '')
  return trimmed.every((part) => typeof part === 'string') ? trimmed.join('') : { $text: trimmed }
}
