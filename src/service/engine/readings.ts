/**
 * What the sources leave open about activities and votes, and the reading that this service takes. Nothing else in the
 * engine decides such a question by itself.
 */
import type { ActivityFamily } from '../../protocol/index.ts'

/**
 * Unstated: what `alias` of an approver is (docs/protocol/policies.md#fields). The API has
 * no other short name of a user than the user's name.
 */
export function aliasOf(user: { readonly name: string }): string {
  return user.name
}

/**
 * Unstated: for which submits a parent's organization id may stand for a sub-organization
 * (docs/protocol/stamps.md#from-stamp-to-caller). Logins do not know their sub-organization yet; anything else must
 * name it.
 */
export const RESOLVED_BELOW: ReadonlySet<ActivityFamily> = new Set(['STAMP_LOGIN'])

/**
 * Unstated: whether an approval outlives the credential that gave it. It does not: revoking a stolen key takes its
 * pending approvals away as well. The vote itself stays for audit, and its user may approve again.
 */
export const APPROVALS_NEED_STANDING_CREDENTIAL = true
