import { type Codes, QuorateError } from '../../diagnostics/index.ts'

/** Thrown when the store cannot do its work. */
export const STORE_CODES = {
  'service/store-unavailable': {
    summary:
      'The database cannot be written or read: the disk is full, read-only or failing, or the service is closing.',
    solve: 'Free space on the disk of the service’s folder, or check its health. The same request may be sent again.',
    retryable: true,
  },
} as const satisfies Codes

/** The database itself failed, not the request: nothing of the request was kept, and it may be sent again. */
export class StoreUnavailable extends QuorateError {
  override readonly name = 'StoreUnavailable'

  constructor(reason: string, cause?: unknown) {
    super('service/store-unavailable', `the database cannot be used: ${reason}`, {
      next: 'free space on the disk of the service’s folder, or check its health, and send the request again',
      cause,
    })
  }
}

/** SQLite's primary result codes that speak of the machine and not of the statement (sqlite.org/rescode.html). */
const MACHINE_FAULTS: Readonly<Record<number, string>> = {
  5: 'it is locked',
  7: 'memory is short',
  8: 'it is read-only',
  10: 'the disk failed',
  11: 'it is damaged',
  13: 'the disk is full',
  14: 'it cannot be opened',
}

/** Turns an error of `node:sqlite` about the machine into `StoreUnavailable`; any other comes back as it is. */
export function fromSqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  const reason = MACHINE_FAULTS[error.errcode & 0xff]
  return reason === undefined ? error : new StoreUnavailable(reason, error)
}
