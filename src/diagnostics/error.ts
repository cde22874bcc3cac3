import { EXIT, type ExitCode } from './codes.ts'
import { withoutKeys, withoutQuotedKeys } from './key-material.ts'

export interface QuorateErrorOptions {
  /** What was seen, by name; shown as a table. Never a secret. */
  readonly facts?: Readonly<Record<string, string | number | boolean | undefined>>
  /** What the reader does next, in the imperative. */
  readonly next?: string
  /** The member of what was given that it is about: the name of an option or of a column, or a path in what the API was sent. */
  readonly field?: string
  /** @default 1 */
  readonly exit?: ExitCode
  readonly cause?: unknown
}

/** The base of every error that the toolkit throws for people to read. */
export class QuorateError extends Error {
  override readonly name: string = 'QuorateError'
  readonly code: `${string}/${string}`
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>
  readonly next?: string
  readonly field?: string
  readonly exit: ExitCode

  constructor(code: `${string}/${string}`, message: string, options: QuorateErrorOptions = {}) {
    // Texts of plans and applies name digests of ours, which look like keys and are none.
    const shown = /^(?:plan|apply)\//.test(code) ? (text: string) => text : withoutQuotedKeys
    super(shown(message), options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.facts = Object.fromEntries(
      Object.entries(options.facts ?? {}).map(([name, value]) => [name, hideIn(name, value)]),
    )
    if (options.next !== undefined) this.next = shown(options.next)
    if (options.field !== undefined) this.field = options.field
    this.exit = options.exit ?? EXIT.error
  }
}

/** Facts that repeat what somebody gave; the others are ours, digests among them. */
function hideIn(name: string, value: string | number | boolean | undefined) {
  if (typeof value !== 'string') return value
  const isGiven = /^(?:file|folder|place|path|given|argument|value|got)$/.test(name) || value.includes('/')
  return isGiven ? withoutKeys(value) : value
}

/** What an error says, or whatever else was thrown. It may repeat what somebody gave: a `QuorateError` leaves keys out of it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** In words why the system did not read a file, without the path that it repeats. */
export function unreadWords(cause: unknown): string {
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'it does not exist',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a folder',
    ENOTDIR: 'it is not a folder',
    ELOOP: 'links lead in a circle',
    EMFILE: 'too many files are open',
    EIO: 'the disk reports an error',
  }
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return known[code] ?? (code || messageOf(cause))
}

/** The JSON form of an error, from which its text is made as well. A foreign error gets the code `internal/unexpected`. */
export function toErrorJson(error: unknown): {
  code: string
  message: string
  facts: Record<string, unknown>
  field?: string
  next?: string
} {
  if (error instanceof QuorateError) {
    const facts = Object.fromEntries(Object.entries(error.facts).filter(([, value]) => value !== undefined))
    return {
      code: error.code,
      message: error.message,
      facts,
      ...(error.field === undefined ? {} : { field: error.field }),
      ...(error.next === undefined ? {} : { next: error.next }),
    }
  }
  const message = withoutKeys(messageOf(error))
  return { code: 'internal/unexpected', message, facts: {}, next: 'report this with the command you ran' }
}
