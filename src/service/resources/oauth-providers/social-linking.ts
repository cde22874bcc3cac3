import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import type { UserRow } from '../../store/index.ts'

/**
 * Throws unless a parent may link an identity to a user of a sub-organization without that user's stamp: Google vouches that
 * the identity has the very e-mail address that the user has (docs/protocol/oauth.md#social-linking).
 */
export function checkSocialLink(
  { oauth }: HandlerContext,
  { issuer, verifiedEmail }: { readonly issuer: string; readonly verifiedEmail: string | undefined },
  user: Pick<UserRow, 'email'> | undefined,
): void {
  const isLinkable = issuer === oauth.linkingIssuer && verifiedEmail !== undefined
  if (!isLinkable || user?.email?.toLowerCase() !== verifiedEmail) throw apiError('notAuthorized')
}
