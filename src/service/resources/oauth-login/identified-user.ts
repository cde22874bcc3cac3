/** Whose an OIDC token is, for a login (docs/protocol/oauth.md#logging-in). */
import { sha256 } from '../../../crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../../encoding/index.ts'
import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { oauthIdentityAmbiguous, oauthIdentityNotFound } from '../../readings.ts'
import type { UserRow } from '../../store/index.ts'
import { isTokenUsed, useUpToken } from '../../verification/index.ts'
import { findOauthIdentities } from '../oauth-providers/store.ts'
import { requireUser } from '../require.ts'

/** What was submitted in time may have waited for approval; and clocks differ. */
const DAY_MS = 86_400_000

/** A token, and the public key that it is to be bound to, as the client wrote it. */
interface BoundToken {
  readonly oidcToken: string
  readonly publicKey: string
}

/** Finds the user whom a token logs in. Throws `ApiError` for one that is not good, and where nobody has its identity. */
export async function requireIdentifiedUser(context: HandlerContext, bound: BoundToken): Promise<UserRow> {
  const user = await findIdentifiedUser(context, bound)
  if (!user) throw oauthIdentityNotFound((await context.identityOf(bound.oidcToken)).issuer)
  return user
}

/**
 * Finds the user whom a token logs in: it is bound to the public key, it has not logged anybody in here before, and its issuer,
 * audience and subject are registered by one user. Undefined where nobody has registered them. Throws `ApiError`.
 */
export async function findIdentifiedUser(
  context: HandlerContext,
  { oidcToken, publicKey }: BoundToken,
): Promise<UserRow | undefined> {
  const { tx, organizationId } = context
  const identity = await context.identityOf(oidcToken)
  if (identity.nonce !== encodeHex(sha256(encodeUtf8(publicKey)))) throw apiError('invalidOidcToken')
  if (await isTokenUsed(tx, usedIdOf(context, oidcToken))) throw apiError('invalidOidcToken')
  const found = await findOauthIdentities(tx, organizationId, identity)
  const [userId, another] = new Set(found.map(({ user_id }) => user_id))
  if (userId === undefined) return undefined
  if (another !== undefined) throw oauthIdentityAmbiguous(identity.issuer)
  return requireUser(context, userId)
}

/** Keeps that a token has logged somebody in: it does so once in an organization, whatever becomes of the session. */
export async function useUp(context: HandlerContext, oidcToken: string): Promise<void> {
  const { tx, organizationId, now } = context
  const { expiresAt } = await context.identityOf(oidcToken)
  const keptUntil = Math.max(expiresAt, now) + DAY_MS
  await useUpToken(tx, { tokenId: usedIdOf(context, oidcToken), organizationId, expiresAt: keptUntil, now })
}

/** Of what is signed alone: another signature over it may be made from the first. */
function usedIdOf({ organizationId }: HandlerContext, oidcToken: string): string {
  const signed = oidcToken.slice(0, oidcToken.lastIndexOf('.'))
  return `oidc ${organizationId} ${encodeHex(sha256(encodeUtf8(signed)))}`
}
