/** Whom a login through the authentication proxy links an identity to that nobody has (docs/protocol/oauth.md#social-linking). */
import type { HandlerContext } from '../../engine/index.ts'
import { oauthIdentityNotFound, severalUsersWithContact } from '../../readings.ts'
import type { UserRow } from '../../store/index.ts'
import { findAuthProxy } from '../auth-proxy/store.ts'
import { settingsOf } from '../auth-proxy/wire.ts'
import { checkOauthProviderLimit } from '../oauth-providers/new-oauth-providers.ts'
import { vouchesForEmail } from '../oauth-providers/social-linking.ts'
import { listOauthProviders } from '../oauth-providers/store.ts'
import { findUsersByContact } from '../users/store.ts'

/**
 * Finds the one user whom the identity of a token is linked to. Throws `ApiError` where it is linked to nobody.
 * INVARIANT: nothing is taken from the proxy's own word but which token it is: a stolen key of the proxy links no more than the
 * bearer of the token could.
 */
export async function requireUserToLink(context: HandlerContext, oidcToken: string): Promise<UserRow> {
  const { tx, organizationId } = context
  const identity = await context.identityOf(oidcToken)
  const { issuer, verifiedEmail: contact } = identity
  if (contact === undefined || !(await isLinkedByProxy(context, identity))) throw oauthIdentityNotFound(issuer)
  const having = await findUsersByContact(tx, { column: 'email', type: 'EMAIL', contact }, { organizationId })
  const [user, another] = having.filter((each) => vouchesForEmail(context, identity, each))
  if (another) throw severalUsersWithContact('email', contact)
  // An address that its user has only written down is no way in for who really has it, nor a trap for them.
  if (user?.isProved !== 1) throw oauthIdentityNotFound(issuer)
  const { length: present } = await listOauthProviders(tx, organizationId, [user.id])
  checkOauthProviderLimit({ present, added: 1 })
  return user
}

type Identity = Awaited<ReturnType<HandlerContext['identityOf']>>

/** Whether the parent's authentication proxy asks, for a client that its settings name. */
async function isLinkedByProxy(
  { tx, organizationId, homeId, submitterId }: HandlerContext,
  { audience, audiences }: Identity,
): Promise<boolean> {
  const proxy = homeId === organizationId ? undefined : await findAuthProxy(tx, homeId)
  if (proxy?.enabled !== 1 || proxy.user_id !== submitterId) return false
  const { socialLinkingClientIds = [] } = settingsOf(proxy)
  // The party that a token names (`azp`) is registered; it has to be one of those that the token is for.
  return audiences.includes(audience) && socialLinkingClientIds.includes(audience)
}
