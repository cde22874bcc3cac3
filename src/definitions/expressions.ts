import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { checkText, type PolicyField } from '../policy/index.ts'
import { kinds } from '../resources/index.ts'
import type { Draft } from './build.ts'
import { parseTemplate } from './template.ts'
import type { ScalarTree } from './tree.ts'

/** Stands for a live id while an expression is checked: all ids are UUIDs, and which one it is changes nothing. */
const PLACEHOLDER = '00000000-0000-4000-8000-000000000000'

/** Checks the expressions of a policy; what is found is reported at its place in the YAML file. */
export function checkExpressions(draft: Draft): readonly Diagnostic[] {
  return Object.entries(draft.expressions).flatMap(([field, scalar]) => {
    const expression = kinds[draft.resource.kind].fields[field]?.expression
    return expression ? checkExpression(expression, scalar) : []
  })
}

function checkExpression(field: PolicyField, scalar: ScalarTree): readonly Diagnostic[] {
  const { text, back } = withPlaceholders(String(scalar.value))
  return checkText(field, text).map(({ code, severity, message, start, end, help }) => {
    const span = scalar.locate(back(start), Math.max(back(start), back(end, 'end')))
    return diagnostic(code, message, span, { severity, help })
  })
}

/** The text with placeholders for references, and the way back from an offset in it. */
function withPlaceholders(value: string): {
  readonly text: string
  readonly back: (offset: number, edge?: 'end') => number
} {
  const parts = parseTemplate(value).map((piece) => ({
    text: piece.kind === 'text' ? piece.text : piece.kind === 'reference' ? PLACEHOLDER : '',
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
