/**
 * What the sources leave open about activities and votes, and the reading that this service takes. Nothing else in the
 * engine decides such a question by itself.
 */
import type { ActivityFamily } from '../../protocol/index.ts'
import type { Reach } from './caller.ts'

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
