import type { HandlerContext } from '../../engine/index.ts'
import { findAuthProxy } from '../auth-proxy/store.ts'
import { isForOwnClient, settingsOf } from '../auth-proxy/wire.ts'
import { findBillingOrganization } from '../organizations/store.ts'
import { userTable } from '../users/store.ts'

/**
 * Whether a token proves to this service that its bearer has the e-mail address in it: its issuer is believed, and it was issued to
 * an app of this organization. Another app has tokens of everybody who logs in there, and could take accounts in their names
 * (docs/protocol/oauth.md#addresses-that-a-token-proves).
 */
export async function provesEmail(
  { tx, organizationId, submitterId, oauth }: HandlerContext,
  identity: { readonly issuer: string; readonly audience: string; readonly audiences: readonly string[] },
): Promise<boolean> {
  const voucher = oauth.vouches(identity.issuer)
  if (voucher === undefined) return false
  const parentId = await findBillingOrganization(tx, organizationId)
  const proxy = await findAuthProxy(tx, parentId)
  if (isForOwnClient(voucher, identity, proxy && settingsOf(proxy))) return true
  // A parent that brings a token itself has it from its own app; its proxy and its users may have it from anywhere.
  const isParent = (await userTable.find(tx, organizationId, submitterId)) === undefined
  return isParent && submitterId !== proxy?.user_id
}
