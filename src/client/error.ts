import { type CodeRow, QuorateError, type QuorateErrorOptions } from '../diagnostics/index.ts'
import { type ClientCode, clientCodes } from './codes.ts'

/** Whether the service may have taken a request up: `unknown` when no answer came after it was sent. */
export type SubmittedState = 'no' | 'unknown' | 'yes'

export interface ClientErrorOptions extends QuorateErrorOptions {
  readonly submitted: SubmittedState
  /** How long the API asks us to wait, when it says so. */
  readonly retryAfterMs?: number | undefined
  /** @default as the table of codes says */
  readonly retryable?: boolean
  /** Whether it stays as it is until somebody corrects something, as a peer that speaks no TLS: a read is then not tried again at once. @default false */
  readonly persistent?: boolean
  /** Why it was refused, for programs: a published code, or a reason of `RefusalReason`. Absent where only a text says it. */
  readonly refusal?: string | undefined
}

/** A request that did not work. `facts` hold the API's own code and message. */
export class ClientError extends QuorateError {
  override readonly name = 'ClientError'
  declare readonly code: ClientCode
  readonly submitted: SubmittedState
  readonly retryable: boolean
  readonly persistent: boolean
  readonly retryAfterMs?: number
  readonly refusal?: string

  constructor(code: ClientCode, message: string, options: ClientErrorOptions) {
    const row: CodeRow = clientCodes[code]
    super(code, message, { next: row.solve, ...(row.exit === undefined ? {} : { exit: row.exit }), ...options })
    this.submitted = options.submitted
    this.retryable = options.retryable ?? row.retryable ?? false
    this.persistent = options.persistent ?? false
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.refusal !== undefined) this.refusal = options.refusal
  }
}
