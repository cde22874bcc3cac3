import { ApplicationFailure } from '@temporalio/common'
import { ClientError, clientCodes } from '../src/client/index.ts'
import type { CodeRow } from '../src/diagnostics/index.ts'
import { QuorateError } from '../src/diagnostics/index.ts'
import { codes as liveCodes } from '../src/live/index.ts'
import { applyCodes } from './codes.ts'

/** The one table of what Temporal tries again: every code that a Temporal activity can raise. */
const rows: Readonly<Record<string, CodeRow>> = { ...clientCodes, ...liveCodes, ...applyCodes }

/** Longest a message or fact may be in a history; the API's texts are short, a proxy's error page is not. */
const MOST_TEXT = 2_000

/**
 * Turns whatever was thrown into the one failure that Temporal activities raise: `type` is our code, retryability
 * comes from the codes' table, `details` hold what to do next, the field to blame and the facts. Neither carries stacks nor causes: they
 * could hold what must not stand in a history.
 */
export function toFailure(error: unknown): ApplicationFailure {
  if (!(error instanceof QuorateError)) {
    const message =
      error instanceof Error ? `${error.name}: ${error.message}` : 'something else than an error was thrown'
    return failure('apply/unexpected', message, { next: applyCodes['apply/unexpected'].solve }, {})
  }
  const retryAfterMs = error instanceof ClientError ? error.retryAfterMs : undefined
  return failure(error.code, error.message, error, error.facts, retryAfterMs)
}

function failure(
  code: string,
  message: string,
  { next, field }: Pick<QuorateError, 'next' | 'field'>,
  facts: QuorateError['facts'],
  retryAfterMs?: number,
): ApplicationFailure {
  const shown = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value])
  const made = ApplicationFailure.create({
    type: code,
    message: cut(message),
    nonRetryable: !(rows[code]?.retryable ?? false),
    details: [
      {
        ...(next === undefined ? {} : { next }),
        ...(field === undefined ? {} : { field }),
        facts: Object.fromEntries(shown),
      },
    ],
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  })
  // A stack names files of the worker's machine and says nothing to a reader of the history.
  made.stack = ''
  return made
}

function cut(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text
}
