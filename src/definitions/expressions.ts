import { type Diagnostic, diagnostic, type Span } from '../diagnostics/index.ts'
import { checkText, type PolicyField, type PolicyProblem } from '../policy/index.ts'
import { type Address, kinds } from '../resources/index.ts'
import type { Draft } from './build.ts'
import { parseTemplate } from './template.ts'
import type { ScalarTree } from './tree.ts'

/** Stands for a live id while an expression is checked: all ids are UUIDs, and which one it is changes nothing. */
const PLACEHOLDER = '00000000-0000-4000-8000-000000000000'

/** Checks the expressions of policies; what is found is reported at its place in the YAML file. */
export function checkExpressions(expressions: readonly WrittenExpression[]): readonly Diagnostic[] {
  // Policies that differ in the names they use alone have one text, with the same in place of each name.
  const known = new Map<string, readonly PolicyProblem[]>()
  return expressions.flatMap(({ field, checked: { text, locate } }) => {
    const key = `${field} ${text}`
    const problems = known.get(key) ?? checkText(field, text)
    known.set(key, problems)
    return problems.flatMap(({ code, severity, message, start, end, help }) => {
      const span = locate(start, end)
      return code === 'policy/constant' && comesFromOutside(span)
        ? []
        : [diagnostic(code, message, span, { severity, help })]
    })
  })
}

/** A clause that is constant in one organization and differs in the next is what a template is for: no warning. */
function comesFromOutside({ source, start, end }: Span): boolean {
  return /\$\{(?:var|env)\./.test(source.text.slice(start, end))
}

/** An expression of a policy as it is written, and as it reads once its references are filled in. */
export interface WrittenExpression {
  readonly address: Address
  readonly field: PolicyField
  /** The whole text in its file. */
  readonly span: Span
  readonly fill: (idOf: (address: Address) => string) => FilledExpression
  /** As it is checked, with one id in place of each reference. */
  readonly checked: FilledExpression
}

export interface FilledExpression {
  readonly text: string
  /** The place in the file of a stretch of the text. */
  readonly locate: (start: number, end: number) => Span
}

/** The expressions of a resource, to be filled in with ids. */
export function writtenExpressions({ resource, expressions }: Draft): readonly WrittenExpression[] {
  return Object.entries(expressions).flatMap(([name, scalar]) => {
    const field = kinds[resource.kind].fields[name]?.expression
    if (field === undefined) return []
    const fill: WrittenExpression['fill'] = (idOf) => fillExpression(scalar, idOf)
    return [{ address: resource.address, field, span: scalar.span, fill, checked: fill(() => PLACEHOLDER) }]
  })
}

function fillExpression(scalar: ScalarTree, idOf: (address: Address) => string): FilledExpression {
  const { text, back } = withIds(String(scalar.value), idOf)
  return { text, locate: (start, end) => scalar.locate(back(start), Math.max(back(start), back(end, 'end'))) }
}

/** The text with ids for references, and the way back from an offset in it. */
function withIds(
  value: string,
  idOf: (address: Address) => string,
): {
  readonly text: string
  readonly back: (offset: number, edge?: 'end') => number
} {
  const parts = parseTemplate(value).map((piece) => ({
    text: piece.kind === 'text' ? piece.text : piece.kind === 'reference' ? idOf(piece.address) : '',
    start: piece.start,
    end: piece.end,
  }))
  const back = (offset: number, edge?: 'end'): number => {
    let before = 0
    for (const { text, start, end } of parts) {
      const inside = edge === 'end' ? offset <= before + text.length : offset < before + text.length
      // A piece that is as long as what was written is what was written; another is one whole.
      if (inside) return text.length === end - start ? start + (offset - before) : edge === 'end' ? end : start
      before += text.length
    }
    return value.length
  }
  return { text: parts.map(({ text }) => text).join(''), back }
}
