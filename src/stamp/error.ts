import { QuorateError } from '../diagnostics/index.ts'

/** Why a request's stamp was not taken. */
export type StampFault = 'missing' | 'malformed' | 'several' | 'unsupported'

/**
 * Thrown for a request whose stamp cannot be read; `message` is the text that the wire shows
 * (docs/protocol/errors.md#texts).
 */
export class StampError extends QuorateError {
  override readonly name = 'StampError'
  readonly reason: StampFault

  constructor(reason: StampFault, message: string, facts: Readonly<Record<string, string>> = {}) {
    super(`stamp/${reason}`, message, { facts })
    this.reason = reason
  }
}
