/**
 * What the sources leave open about activities and votes, and the reading that this service takes. Nothing else in the
 * engine decides such a question by itself.
 */
import type { ActivityFamily } from '../../protocol/index.ts'

/**
 * Unstated: for which submits a parent's organization id may stand for a sub-organization
 * (docs/protocol/stamps.md#from-stamp-to-caller). Logins do not know their sub-organization yet; anything else must
 * name it.
 */
export const RESOLVED_BELOW: ReadonlySet<ActivityFamily> = new Set(['STAMP_LOGIN'])
