import { type Codes, QuorateError } from '../../diagnostics/index.ts'

/** Thrown when the store cannot do its work. */
export const STORE_CODES = {
  'service/store-unavailable': {
    summary:
      'The database cannot be written or read: the disk is full, read-only or failing, the database server does not answer, or the service is closing.',
    solve:
      'Free space on the disk of the service’s folder, or check its health; with PostgreSQL, the health of its server. The same request may be sent again.',
    retryable: true,
  },
  'service/schema-differs': {
    summary:
      'The tables of a database are those of a newer version of quorate, or of an older one where they must be the newest.',
    solve: 'For newer tables use the version that made them; older ones are brought up by `quorate migrate`.',
  },
  'service/store-not-empty': {
    summary: 'Rows are copied only to where nothing is.',
    solve: 'Name an empty database or folder; nothing was changed.',
  },
  'service/store-served': {
    summary: 'The rows of a database that is served would be copied while they change.',
    solve: 'End the processes that serve it; nothing was changed.',
  },
  'service/copy-failed': {
    summary: 'The rows of a database could not be copied to another as they are.',
    solve: 'Mend what the message names; nothing was changed in either.',
  },
} as const satisfies Codes

/** The tables are of another version. */
export function schemaDiffers(how: 'newer' | 'older', migration: string): QuorateError {
  const [message, next] =
    how === 'newer'
      ? ['was brought to a newer schema', 'use the version of quorate that did; nothing was changed']
      : ['lacks the newest schema', 'bring it there with `quorate migrate`; nothing was changed']
  return new QuorateError('service/schema-differs', `the database ${message}: ${migration}`, { next })
}

/** Names what holds rows already. */
export function storeNotEmpty(what: string): QuorateError {
  return new QuorateError('service/store-not-empty', `${what} holds an organization already`, {
    next: 'name an empty one; nothing was changed',
  })
}

export function copyFailed(why: string): QuorateError {
  return new QuorateError('service/copy-failed', `the rows were not copied: ${why}`, {
    next: 'mend that and copy again; nothing was changed',
  })
}

const NEXT = {
  file: 'free space on the disk of the service’s folder, or check its health, and send the request again',
  server: 'check the database server and the way to it, and send the request again',
  foreign: 'name a database in DATABASE_URL that is empty or this service’s own; nothing was changed in this one',
} as const

/** The database itself failed, not the request: nothing of the request was kept, and it may be sent again. */
export class StoreUnavailable extends QuorateError {
  override readonly name = 'StoreUnavailable'

  constructor(reason: string, cause?: unknown, store: keyof typeof NEXT = 'file') {
    super('service/store-unavailable', `the database cannot be used: ${reason}`, {
      next: NEXT[store],
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

/**
 * What was done does not go together with what another process did at the same moment. Nothing of it was kept; the store does it
 * again by itself.
 */
export class StoreConflict extends StoreUnavailable {}

/** SQLSTATE codes of what goes well when it is done again: what another one wrote is seen then. */
const CONFLICTS: Readonly<Record<string, string>> = {
  '40001': 'others write the same rows',
  '40P01': 'others hold what it waits for',
  '23505': 'another one wrote the same row',
  '23503': 'another one deleted what it refers to',
}

/** SQLSTATE codes and classes that speak of the server and not of the statement (postgresql.org/docs/15/errcodes-appendix.html). */
const SERVER_FAULTS: Readonly<Record<string, string>> = {
  '25006': 'the server only reads',
  '25P03': 'a transaction was left lying for too long',
  '28': 'the server does not let this user in',
  '42501': 'the server does not let this user do it',
  '3D': 'the server has no such database',
  '53100': 'the disk of the server is full',
  '53300': 'the server has too many connections',
  '53': 'the server is short of something',
  '55P03': 'others hold what it waits for',
  '57014': 'a statement took too long',
  '57': 'the server is stopping or starting',
  '58': 'the disk of the server failed',
  '0A000': 'its tables were changed by another version of the service',
  '08': 'the connection broke',
  XX: 'the server failed or its data is damaged',
}

/** Codes of Node.js that begin like no SQLSTATE: the connection. */
const SYSTEM_CODE = /^(E[A-Z]+|ERR_[A-Z_]+|CERT_[A-Z_]+|DEPTH_[A-Z_]+|SELF_[A-Z_]+|UNABLE_[A-Z_]+)$/

/** Texts of the driver's own errors, which have no code: the connection is gone, or there was none in time. */
const DRIVER_FAULT = /terminat|timeout|not queryable|ended|closed|does not support SSL|SASL|password/i

/** Turns an error of PostgreSQL or its driver about the server into `StoreUnavailable`; any other comes back as it is. */
export function fromPostgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (code === undefined) {
    return DRIVER_FAULT.test(error.message) ? new StoreUnavailable('the connection broke', error, 'server') : error
  }
  const conflict = CONFLICTS[code]
  if (conflict !== undefined) return new StoreConflict(conflict, error, 'server')
  if (SYSTEM_CODE.test(code)) return new StoreUnavailable(`its server is not reached (${code})`, error, 'server')
  const reason = SERVER_FAULTS[code] ?? SERVER_FAULTS[code.slice(0, 2)]
  return reason === undefined ? error : new StoreUnavailable(reason, error, 'server')
}
