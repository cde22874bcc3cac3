import { type CodeRow, QuorateError, type QuorateErrorOptions } from '../src/diagnostics/index.ts'
import { type ApplyCode, applyCodes } from './codes.ts'

/** A step of an apply that cannot be done as asked. */
export class ApplyError extends QuorateError {
  override readonly name = 'ApplyError'
  declare readonly code: ApplyCode

  constructor(code: ApplyCode, message: string, options: QuorateErrorOptions = {}) {
    const row: CodeRow = applyCodes[code]
    super(code, message, { next: row.solve, ...(row.exit === undefined ? {} : { exit: row.exit }), ...options })
  }
}
