import { ClientError } from '../src/client/index.ts'
import { ApplyError } from './error.ts'

/** The API refuses what is more than 5 minutes ahead or an hour old; a younger body that it refuses means a wrong clock. */
const MAY_BE_STALE_MS = 5 * 60 * 1000

/**
 * Whether a body was refused because it lay too long. A known body is answered at any age
 * (docs/protocol/activities.md#liveness), so these bytes never became an activity, nor ever will, and another body for
 * the same intent makes no twin.
 */
export function isStale(error: unknown, body: string, nowMs: number, mayBeStaleMs = MAY_BE_STALE_MS): boolean {
  const { timestampMs } = JSON.parse(body) as { readonly timestampMs: string }
  return (
    error instanceof ClientError && error.code === 'client/clock-skew' && nowMs - Number(timestampMs) > mayBeStaleMs
  )
}

export function staleBody(cause: unknown): ApplyError {
  return new ApplyError('apply/body-stale', 'the stored body has grown too old to be accepted', { cause })
}
