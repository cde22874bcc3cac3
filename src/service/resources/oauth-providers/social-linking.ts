import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import type { UserRow } from '../../store/index.ts'

/** Says whether Google vouches that an identity has the e-mail address that a user has. */
export function vouchesForEmail(
  { oauth }: HandlerContext,
  { issuer, verifiedEmail }: { readonly issuer: string; readonly verifiedEmail?: string | undefined },
  user: Pick<UserRow, 'email'> | undefined,
): boolean {
  const isLinkable = issuer === oauth.linkingIssuer && verifiedEmail !== undefined
  return isLinkable && user?.email?.toLowerCase() === verifiedEmail
}

/**
 * Throws unless a parent may link an identity to a user of a sub-organization without that user's stamp: Google vouches that
 * the identity has the very e-mail address that the user has (docs/protocol/oauth.md#social-linking).
 */
export function checkSocialLink(
  context: HandlerContext,
  identity: { readonly issuer: string; readonly verifiedEmail: string | undefined },
  user: Pick<UserRow, 'email'> | undefined,
): void {
  if (!vouchesForEmail(context, identity, user)) throw apiError('notAuthorized')
}
