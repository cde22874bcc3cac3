import { QuorateError, type QuorateErrorOptions } from '../diagnostics/index.ts'
import type { LiveCode } from './codes.ts'

/** Live state could not be read whole. Nothing of it is given. */
export class LiveError extends QuorateError {
  override readonly name = 'LiveError'

  constructor(code: LiveCode, message: string, options: QuorateErrorOptions = {}) {
    super(code, message, options)
  }
}

/** Runs a reading of one answer; a shape that is wrong becomes an error that names the query. Others pass. */
export function readAnswer<Result>(query: string, read: () => Result): Result {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof QuorateError) || cause.code !== 'resources/malformed-record') throw cause
    throw new LiveError('live/malformed-answer', `the answer to \`${query}\` cannot be used: ${cause.message}`, {
      cause,
      facts: { query },
      next: 'check that the base URL is that of the API; nothing that was read is used',
    })
  }
}
