import type { CodeRow, Diagnostic } from '../diagnostics/index.ts'
import { lintCodes, policyCodes } from '../policy/index.ts'
import { codes as resourcesCodes } from '../resources/index.ts'
import { codes } from './codes.ts'

const ROWS: Readonly<Record<string, CodeRow>> = { ...codes, ...resourcesCodes, ...policyCodes, ...lintCodes }

/** A diagnostic with what to do next: what is said of the very place, else what its code says. */
export function withHelp(diagnostic: Diagnostic): Diagnostic {
  const solve = ROWS[diagnostic.code]?.solve
  return diagnostic.help !== undefined || solve === undefined ? diagnostic : { ...diagnostic, help: solve }
}
