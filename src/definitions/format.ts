/**
 * Formats the policy expressions of a file of definitions in place. Every byte outside of an expression stays: comments,
 * order, quotes, blank lines. A block stays a block; an expression that is too long for its line becomes one.
 */
import { type CST, isMap, isScalar, parseDocument, visit } from 'yaml'
import { type Diagnostic, diagnostic, type Source, spanAt } from '../diagnostics/index.ts'
import { formatExpression, type PolicyField } from '../policy/index.ts'
import { hideReferences } from './hidden-references.ts'
import { type PolicyScalar, parsePolicyFile, policyScalars } from './policy-scalars.ts'
import { scalarOffsets } from './scalar-offsets.ts'

/** Columns of a line. */
const WIDTH = 100

export interface Formatted {
  readonly text: string
  /** Why an expression, or the whole file, was left as it is. */
  readonly diagnostics: readonly Diagnostic[]
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Formats the expressions of one file; formatting the result again changes nothing. */
export function formatPolicies(source: Source): Formatted {
  const document = parsePolicyFile(source.text)
  const [fault] = document.errors
  if (fault !== undefined) {
    const span = spanAt(source, fault.pos[0], Math.max(fault.pos[1], fault.pos[0] + 1))
    return { text: source.text, diagnostics: [diagnostic('definitions/syntax', 'this is not YAML', span)] }
  }
  const diagnostics: Diagnostic[] = []
  const edits: Edit[] = []
  for (const scalar of policyScalars(document, source.text)) {
    const result = formatScalar(scalar, source)
    if ('edits' in result) edits.push(...result.edits)
    else diagnostics.push(result.diagnostic)
  }
  let text = source.text
  for (const edit of edits.toSorted((a, b) => b.start - a.start || b.end - a.end))
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  if (meaningOf(text) !== meaningOf(source.text)) throw new Error(`formatting changed what \`${source.path}\` says`)
  return { text, diagnostics }
}

function formatScalar(
  scalar: PolicyScalar,
  source: Source,
): { readonly edits: readonly Edit[] } | { readonly diagnostic: Diagnostic } {
  const { value, token, field } = scalar
  const hidden = hideReferences(value)
  const formatted = (width: number, clauseALine: boolean) =>
    formatExpression(field, hidden.text, { width, clauseALine })
  const first = formatted(Number.POSITIVE_INFINITY, false)
  if ('problems' in first) {
    const [problem] = first.problems
    const offsets = scalarOffsets(token, value)
    const at = offsets?.[hidden.back(problem!.start)] ?? token.offset
    const { code, message, help } = problem!
    return { diagnostic: diagnostic(code, `not formatted: ${message}`, spanAt(source, at, at + 1), { help }) }
  }
  const lines = (width: number, clauseALine: boolean) => {
    const result = formatted(width, clauseALine)
    return 'text' in result ? hidden.show(result.text).split('\n') : []
  }
  if (token.type === 'block-scalar') return { edits: blockEdits(token, source.text, lines) }
  const column = token.offset - (source.text.lastIndexOf('\n', token.offset - 1) + 1)
  const line = hidden.show(first.text)
  const written = inStyle(token, line)
  if (scalar.inFlow || column + written.length <= WIDTH)
    return { edits: [{ start: token.offset, end: token.offset + token.source.length, text: written }] }
  return { edits: newBlock(scalar, source.text, lines) }
}

type Lines = (width: number, clauseALine: boolean) => readonly string[]

/** What is between the first and the last character of a block's content; its header and ends stay. */
function blockEdits(token: CST.BlockScalar, text: string, lines: Lines): readonly Edit[] {
  const header = token.props.at(-1)
  if (header === undefined || !('source' in header)) return []
  const content = header.offset + header.source.length
  const start = content + token.source.search(/\S/)
  const end = content + token.source.trimEnd().length
  const indent = start - (text.lastIndexOf('\n', start - 1) + 1)
  const isBroken = text.slice(start, end).includes('\n')
  const separator = `${lineBreak(text)}${' '.repeat(indent)}`
  return [{ start, end, text: lines(WIDTH - indent, isBroken).join(separator) }]
}

/** Turns a scalar on the line of its key into a block below it; what follows on that line, a comment, stays there. */
function newBlock({ token, keyColumn }: PolicyScalar, text: string, lines: Lines): readonly Edit[] {
  const indent = keyColumn + 2
  const end = token.offset + token.source.length
  const rest = text.indexOf('\n', end)
  const lineEnd = rest < 0 ? text.length : text[rest - 1] === '\r' ? rest - 1 : rest
  const separator = `${lineBreak(text)}${' '.repeat(indent)}`
  const content = lines(WIDTH - indent, true).map((line) => separator + line)
  return [
    { start: token.offset, end, text: '>-' },
    { start: lineEnd, end: lineEnd, text: content.join('') },
  ]
}

function lineBreak(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** A text in the quotes it had; plain only where YAML reads it back as the same text. */
function inStyle({ type }: CST.FlowScalar, text: string): string {
  if (type === 'single-quoted-scalar') return `'${text.replaceAll("'", "''")}'`
  if (type === 'scalar' && isPlain(text)) return text
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

function isPlain(text: string): boolean {
  const document = parseDocument(`key: ${text}`)
  return document.errors.length === 0 && document.warnings.length === 0 && document.get('key') === text
}

/** Everything that a file says, with each expression in one form. */
function meaningOf(text: string): string {
  const document = parsePolicyFile(text)
  if (document.errors.length > 0) return `not YAML: ${document.errors[0]!.message}`
  const forms = new Map<CST.Token, string>()
  for (const { token, value, field } of policyScalars(document, text)) forms.set(token, oneForm(field, value))
  const said: unknown[] = []
  visit(document, {
    Scalar: (_, node) => {
      const form = node.srcToken && forms.get(node.srcToken)
      said.push(form ?? node.value)
    },
    Node: (_, node) => {
      if (!isScalar(node)) said.push(isMap(node) ? 'map' : node.constructor.name, node.anchor ?? '')
    },
    Alias: (_, node) => {
      said.push(`*${node.source}`)
    },
  })
  return JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

function oneForm(field: PolicyField, value: string): string {
  const hidden = hideReferences(value)
  const result = formatExpression(field, hidden.text, { width: Number.POSITIVE_INFINITY })
  return 'text' in result ? hidden.show(result.text) : value
}
