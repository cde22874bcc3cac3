/**
 * What the sources leave open about votes, about scopes of sessions, and about how far a submit reaches across the organization tree,
 * and the reading that this service takes. What they leave open about the activities themselves stands in src/service/readings.ts.
 */
import { type ActivityFamily, ApiError, apiError, GRPC, REQUEST_LIMITS } from '../../protocol/index.ts'
import type { Reach } from './caller.ts'

/** Unstated: the refusal of a rejection that comes too late (docs/protocol/activities.md#votes). */
export function rejectedTooLate({ id, status }: { readonly id: string; readonly status: string }): ApiError {
  const message = `activity ${id} cannot be rejected: its status is ${status}`
  return new ApiError(GRPC.InvalidArgument, message, { code: 'REQUEST_INVALID' })
}

/** Unstated: how a new organization is asked for, and the refusal of whom nobody has let (docs/protocol/organizations.md#parent-organizations). */
export function enrolmentRefused(): ApiError {
  const message = 'request not authorized: X-Enrolment-Secret is not the enrolment secret of this service'
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/** Unstated: the refusal of an approval whose bytes an answer has no room for beside those of the other votes. */
export function tooManyVoteBytes(activityId: string): ApiError {
  const most = `the votes on activity ${activityId} would have more than ${REQUEST_LIMITS.votesBytes} bytes`
  return apiError('requestInvalid', `${most}: approve it by its fingerprint, with approve_activity`)
}

/**
 * Unstated: the text of the refusal by a scope that cannot be evaluated; its code is the API's own, `INTERNAL`
 * (docs/protocol/sessions.md#session-profiles).
 */
export function scopeNotEvaluated(sessionProfileId: string, type: string): ApiError {
  const of = `the scope of session profile ${sessionProfileId} cannot be evaluated for ${type}`
  return new ApiError(GRPC.Internal, `${of}: nothing was carried out`, { code: 'INTERNAL' })
}

/**
 * Unstated: for which submits a parent's organization id may stand for a sub-organization
 * (docs/protocol/stamps.md#from-stamp-to-caller). Logins do not know their sub-organization yet; anything else must
 * name it.
 */
const RESOLVED_BELOW: ReadonlySet<ActivityFamily> = new Set(['STAMP_LOGIN'])

/**
 * Unstated: which submits a parent's user may send into a sub-organization (docs/protocol/stamps.md#from-stamp-to-caller): those
 * that log one of its users in by something that this user has proved, and the linking of an identity to one. The parent's
 * policies and quorum decide, and at once: what would wait for another approver of the parent is denied.
 */
const FROM_PARENT: ReadonlySet<ActivityFamily> = new Set([
  'OAUTH',
  'OAUTH_LOGIN',
  'INIT_OTP_AUTH',
  'OTP_AUTH',
  'OTP_LOGIN',
  'EMAIL_AUTH',
  'INIT_USER_EMAIL_RECOVERY',
  'CREATE_OAUTH_PROVIDERS',
])

/** How far a submit reaches across the organization tree. */
export function reachOf(family: ActivityFamily): Reach {
  if (RESOLVED_BELOW.has(family)) return 'submit-below'
  return FROM_PARENT.has(family) ? 'submit-inside' : 'submit'
}
