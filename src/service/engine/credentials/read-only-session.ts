import { sha256 } from '../../../crypto/index.ts'
import { encodeHex } from '../../../encoding/index.ts'
import { apiError } from '../../../protocol/index.ts'
import { findReadOnlySession } from '../../resources/sessions/store.ts'
import { lockOrganization } from '../../store/index.ts'
import type { CredentialSort } from './credential-sort.ts'

/** Read-only sessions (docs/protocol/sessions.md#read-only-sessions): the token is the whole proof, of questions alone. */
export const readOnlySessionSort: CredentialSort<'session'> = {
  async find(tx, { stamp }, target, now) {
    const session = await findReadOnlySession(tx, encodeHex(sha256(stamp.token)))
    if (!session || now >= session.expires_at) throw apiError('sessionNotVerified')
    const { user_id: userId, organization_id: homeId } = session
    const isAbove = target.parentId === homeId
    const isBelow = (await lockOrganization(tx, homeId))?.parentId === target.id
    if (homeId !== target.id && !isAbove && !isBelow) throw apiError('sessionNotVerified')
    const facts = { id: session.token_hash, user_id: userId, type: '' }
    // It can cast no vote, so that nothing of it is kept in one.
    return { userId, homeId, facts, signed: { public_key: '', signature: '', scheme: '' }, readsOnly: true }
  },
}
