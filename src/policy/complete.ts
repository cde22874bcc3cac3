/** Completions at a place of an expression, for editors. Only the text before the place counts. */
import { activities, activityActions, activityKinds, activityResources } from '../protocol/catalogue.ts'
import { childrenOf, type Expression } from './ast.ts'
import { checkTree } from './check.ts'
import { fieldRow, roots, rootsOf, structRow } from './environment.ts'
import { lex } from './lexer.ts'
import type { PolicyField } from './model.ts'
import { functions, methods, quantifiers } from './operators.ts'
import { parse } from './parser.ts'
import { isReserved, type Token } from './tokens.ts'
import { showType, type Type } from './types.ts'

export interface Completion {
  readonly label: string
  readonly kind: 'root' | 'field' | 'method' | 'function' | 'variable' | 'word'
  /** What is written instead of the label. */
  readonly insert?: string
  /** Type or signature. */
  readonly detail: string
  readonly doc: string
}

export interface Completions {
  readonly items: readonly Completion[]
  /** Where the word that is being written starts. */
  readonly start: number
}

/** Stands for the word that is being written; no field has this name. */
const CURSOR = 'cursor__'

const words: Readonly<Record<string, readonly string[]>> = {
  kind: activityKinds,
  type: Object.keys(activities),
  resource: activityResources,
  action: activityActions,
}

/** Lists what may stand at an offset of an expression. */
export function completeAt(field: PolicyField, text: string, offset: number): Completions {
  const before = text.slice(0, offset)
  const { tokens, problems } = lex(before)
  const last = tokens.at(-2)
  const isText = last?.kind === 'string' && problems.some(({ code }) => code === 'policy/unterminated-string')
  const start = isText ? last.start + 1 : last && isWord(last) && last.end === offset ? last.start : offset
  const written = `${text.slice(0, start)}${CURSOR}${isText ? "'" : ''}`
  const { tree } = parse(written + closersOf(written))
  const found = tree && find(tree, [])
  if (tree === undefined || found === undefined) return { items: [], start }
  if (isText) return { items: wordsFor(found.around), start }
  if (found.node.kind === 'member') {
    const type = checkTree(field, tree).types.get(found.node.target)
    return { items: type === undefined ? [] : membersOf(type), start }
  }
  return { items: [...variablesOf(found.around, checkTree(field, tree).types), ...startsOf(field)], start }
}

function isWord(token: Token): boolean {
  return token.kind === 'identifier' || (token.kind === 'symbol' && isReserved(token.symbol))
}

/** The words that `activity.kind` and the like may be compared with, for a text that is compared alone or in a list. */
function wordsFor([around, outer]: readonly Expression[]): readonly Completion[] {
  const comparison = around?.kind === 'list' ? outer : around
  const read = comparison?.kind === 'compare' ? comparison.left : undefined
  if (read?.kind !== 'member' || read.target.kind !== 'name' || read.target.name !== 'activity') return []
  const column = read.name.text
  return (Object.hasOwn(words, column) ? words[column]! : []).map((label) => ({
    label,
    kind: 'word',
    detail: `activity.${column}`,
    doc: '',
  }))
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** The brackets that are still open, closed. */
function closersOf(text: string): string {
  const closers: string[] = []
  for (const token of lex(text).tokens) {
    if (token.kind !== 'symbol') continue
    const closer = closing[token.symbol]
    if (closer !== undefined) closers.push(closer)
    else if (token.symbol === closers.at(-1)) closers.pop()
  }
  return closers.reverse().join('')
}

interface Found {
  readonly node: Expression
  readonly around: readonly Expression[]
}

function find(node: Expression, around: readonly Expression[]): Found | undefined {
  const isIt =
    (node.kind === 'member' && node.name.text === CURSOR) ||
    (node.kind === 'name' && node.name === CURSOR) ||
    (node.kind === 'string' && node.value === CURSOR)
  if (isIt) return { node, around }
  for (const child of childrenOf(node)) {
    const found = find(child, [node, ...around])
    if (found !== undefined) return found
  }
  return undefined
}

function membersOf(type: Type): readonly Completion[] {
  if (type.kind === 'struct')
    return structRow(type.name).fields.map(({ name, type: of, doc }) => ({
      label: name,
      kind: 'field',
      detail: showType(of),
      doc,
    }))
  if (type.kind !== 'list' && type.kind !== 'dynamic') return []
  return Object.entries({ ...quantifiers, ...methods }).map(([name, row]) => ({
    label: name,
    kind: 'method',
    insert: name === 'count' ? 'count()' : `${name}(`,
    detail: row.signature,
    doc: row.doc,
  }))
}

function variablesOf(around: readonly Expression[], types: ReadonlyMap<Expression, Type>): readonly Completion[] {
  return around.flatMap((node) => {
    if (node.kind !== 'quantifier') return []
    const list = types.get(node.target)
    const detail = list?.kind === 'list' ? showType(list.element) : 'decoded value'
    return [
      {
        label: node.variable.text,
        kind: 'variable' as const,
        detail,
        doc: `the element that \`${node.method}\` looks at`,
      },
    ]
  })
}

function startsOf(field: PolicyField): readonly Completion[] {
  return [
    ...rootsOf(field).map((name): Completion => {
      const { type, doc } = roots[name]
      return { label: name, kind: 'root', detail: showType(type), doc }
    }),
    ...(field === 'time' ? Object.entries(functions) : []).map(
      ([name, row]): Completion => ({
        label: name,
        kind: 'function',
        insert: `${name}(`,
        detail: row.signature,
        doc: row.doc,
      }),
    ),
    { label: 'true', kind: 'word', detail: 'bool', doc: 'holds always' },
    { label: 'false', kind: 'word', detail: 'bool', doc: 'never holds' },
  ]
}

/** The type and meaning of the name or operator at an offset. */
export interface Hover {
  readonly title: string
  readonly doc: string
  readonly start: number
  readonly end: number
}

/** Describes the name or operator at an offset of an expression; undefined where there is none. */
export function hoverAt(field: PolicyField, text: string, offset: number): Hover | undefined {
  const { tree } = parse(text)
  if (tree === undefined) return undefined
  const { types } = checkTree(field, tree)
  const path = pathTo(tree, offset, [])
  const node = path[0]
  if (node === undefined) return undefined
  const at = (
    extent: { readonly start: number; readonly end: number },
    title: string,
    doc: string,
  ): Hover | undefined =>
    offset >= extent.start && offset <= extent.end ? { title, doc, start: extent.start, end: extent.end } : undefined
  const type = types.get(node)
  switch (node.kind) {
    case 'name': {
      const binder = path.find((one) => one.kind === 'quantifier' && one.variable.text === node.name)
      const shown = `${node.name}: ${type === undefined ? 'unknown' : showType(type)}`
      if (binder?.kind === 'quantifier') return at(node, shown, `the element that \`${binder.method}\` looks at`)
      return Object.hasOwn(roots, node.name) ? at(node, shown, roots[node.name as keyof typeof roots].doc) : undefined
    }
    case 'member': {
      const of = types.get(node.target)
      const row = of?.kind === 'struct' ? fieldRow(of.name, node.name.text) : undefined
      return row && at(node.name, `${text.slice(node.start, node.end)}: ${showType(row.type)}`, row.doc)
    }
    case 'method': {
      const row = Object.hasOwn(methods, node.name.text) ? methods[node.name.text as keyof typeof methods] : undefined
      return row && at(node.name, `${node.name.text}${row.arguments}: ${row.signature}`, row.doc)
    }
    case 'quantifier': {
      const start = node.target.end + text.slice(node.target.end).indexOf(node.method)
      const row = quantifiers[node.method]
      return at({ start, end: start + node.method.length }, `${node.method}${row.arguments}: ${row.signature}`, row.doc)
    }
    case 'call': {
      const name = node.name.text
      const row = Object.hasOwn(functions, name) ? functions[name as keyof typeof functions] : undefined
      return row && at(node.name, `${name}${row.arguments}: ${row.signature}`, row.doc)
    }
    default:
      return undefined
  }
}

/** The nodes that hold an offset, innermost first. */
function pathTo(node: Expression, offset: number, around: readonly Expression[]): readonly Expression[] {
  if (offset < node.start || offset > node.end) return around
  for (const child of childrenOf(node)) {
    const path = pathTo(child, offset, [node, ...around])
    if (path.length > around.length + 1) return path
  }
  return [node, ...around]
}
