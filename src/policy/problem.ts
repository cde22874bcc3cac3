import type { Severity } from '../diagnostics/index.ts'
import type { PolicyCode } from './codes.ts'

/** Something wrong with the text of an expression, by offsets (UTF-16 units) within that text. */
export interface PolicyProblem {
  readonly code: PolicyCode
  readonly severity: Severity
  readonly message: string
  readonly start: number
  readonly end: number
  readonly help?: string
}

/** A stretch of an expression's text. */
export interface Extent {
  readonly start: number
  readonly end: number
}

/** Makes a problem. @default severity error */
export function problem(
  code: PolicyCode,
  message: string,
  { start, end }: Extent,
  more: { readonly help?: string | undefined; readonly severity?: Severity } = {},
): PolicyProblem {
  const { severity = 'error', help } = more
  return { code, severity, message, start, end, ...(help === undefined ? {} : { help }) }
}
