import { withoutQuotedKeys } from './key-material.ts'
import type { Span } from './source.ts'

export type Severity = 'error' | 'warning' | 'info'

/** Another place that explains a diagnostic, e.g. where a name was defined first. */
export interface Related {
  readonly message: string
  readonly span: Span
}

/** Something wrong with a text that a person wrote. A value: gathered, sorted, returned; never thrown. */
export interface Diagnostic {
  readonly code: string
  readonly severity: Severity
  /** One sentence, lower case, no full stop; the user's own text in backticks. */
  readonly message: string
  readonly span: Span
  readonly related: readonly Related[]
  /** What to do next, if there is something to say, e.g. "did you mean `resource`?". */
  readonly help?: string
  /** What the span marks may be a secret: no excerpt shows it. */
  readonly isHidden?: true
}

/** Makes a diagnostic. @default severity error */
export function diagnostic(
  code: `${string}/${string}`,
  message: string,
  span: Span,
  more: {
    readonly severity?: Severity
    readonly help?: string | undefined
    readonly related?: readonly Related[]
    readonly isHidden?: true
  } = {},
): Diagnostic {
  const { severity = 'error', related = [], help, isHidden } = more
  const shown = withoutQuotedKeys
  return {
    code,
    severity,
    message: shown(message),
    span,
    related: related.map((one) => ({ ...one, message: shown(one.message) })),
    ...(help === undefined ? {} : { help: shown(help) }),
    ...(isHidden ? { isHidden } : {}),
  }
}

/** Whether any of them is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/** Sorts by path, then position, then code, so that the same input gives the same list. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const order = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
  return [...diagnostics].sort(
    (a, b) =>
      order(a.span.source.path, b.span.source.path) ||
      order(a.span.start, b.span.start) ||
      order(a.span.end, b.span.end) ||
      order(a.code, b.code) ||
      order(a.message, b.message),
  )
}
