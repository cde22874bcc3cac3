import { apiError, resourceLimits, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { oauthProviderTaken } from '../../readings.ts'
import type { UserRow } from '../../store/index.ts'
import { upsertVerifiedContact } from '../users/verified-contacts-store.ts'
import { provesEmail } from './proved-address.ts'
import { checkSocialLink } from './social-linking.ts'
import { insertOauthProvider, isOauthIdentityTaken, type OauthIdentity } from './store.ts'

/** An OAuth provider to be registered. */
export interface NewOauthProvider {
  readonly name: string
  /** Absent where the claims alone are given: another token of the same list must stand for them. */
  readonly oidcToken: string | undefined
  readonly oidcClaims: Wire.OidcClaims | undefined
}

type OidcIdentity = Awaited<ReturnType<HandlerContext['identityOf']>>

/** A provider whose token has been looked at. */
interface KnownProvider extends OauthIdentity {
  readonly name: string
  readonly verifiedEmail: string | undefined
  /** Of the token. */
  readonly vouching: OidcIdentity
}

/** An entry of `oauthProviders`; the older form has a token alone. */
export function toNewOauthProvider(params: Wire.OauthProviderParams | Wire.OauthProviderParamsV2): NewOauthProvider {
  return {
    name: params.providerName,
    oidcToken: params.oidcToken || undefined,
    oidcClaims: 'oidcClaims' in params ? params.oidcClaims : undefined,
  }
}

/**
 * Throws the refusal of the first provider that nobody vouches for, that the organization or the request has already, or that
 * a parent may not link.
 * @param user the one who is to have them, where it is one who exists
 */
export async function checkNewOauthProviders(
  context: HandlerContext,
  lists: readonly (readonly NewOauthProvider[])[],
  user?: Pick<UserRow, 'email'>,
): Promise<void> {
  const seen = new Set<string>()
  for (const list of lists) {
    for (const provider of await identify(context, list)) {
      if (context.homeId !== context.organizationId) checkSocialLink(context, provider, user)
      const key = JSON.stringify([provider.issuer, provider.audience, provider.subject])
      const taken = seen.has(key) || (await isOauthIdentityTaken(context.tx, context.organizationId, provider))
      if (taken) throw oauthProviderTaken(provider)
      seen.add(key)
    }
  }
}

/** Throws code 8 when a user would have too many OAuth providers. */
export function checkOauthProviderLimit(count: { readonly present: number; readonly added: number }): void {
  const { oauthProvidersPerUser: most } = resourceLimits.parent
  if (count.present + count.added > most) throw apiError('maxReached', 'user', 'oauth providers', most)
}

/** Registers providers of a user, which have been checked, and returns their ids; a token may prove the user's e-mail. */
export async function addOauthProviders(
  context: HandlerContext,
  user: Pick<UserRow, 'id' | 'email'>,
  added: readonly NewOauthProvider[],
): Promise<string[]> {
  const { tx, organizationId, now } = context
  const ids: string[] = []
  for (const { name, issuer, audience, subject, verifiedEmail, vouching } of await identify(context, added)) {
    const id = context.newId()
    ids.push(id)
    const row = { id, organization_id: organizationId, user_id: user.id, name, issuer, audience, subject }
    await insertOauthProvider(tx, { ...row, created_at: now, updated_at: now })
    const isOwn = verifiedEmail !== undefined && verifiedEmail === user.email?.toLowerCase()
    if (isOwn && (await provesEmail(context, vouching))) {
      const proof = { type: 'EMAIL', contact: verifiedEmail }
      await upsertVerifiedContact(tx, { organization_id: organizationId, user_id: user.id, ...proof })
    }
  }
  return ids
}

/**
 * Reads the identities of the providers of one user. Claims without a token of their own name another client id of the same
 * person: a verified token of the list must have their issuer and subject
 * (docs/protocol/organizations.md#oauth-providers). Throws `ApiError`.
 */
async function identify(context: HandlerContext, list: readonly NewOauthProvider[]): Promise<KnownProvider[]> {
  const tokens = list.flatMap(({ oidcToken }) => (oidcToken === undefined ? [] : [oidcToken]))
  const identities = new Map<string, OidcIdentity>()
  for (const token of tokens) identities.set(token, await context.identityOf(token))
  return list.map(({ name, oidcToken, oidcClaims }) => {
    const own = oidcToken === undefined ? undefined : identities.get(oidcToken)
    if (!oidcClaims) {
      if (!own) throw apiError('missingField', 'oidcToken')
      const { issuer, audience, subject, verifiedEmail } = own
      return { name, issuer, audience, subject, verifiedEmail, vouching: own }
    }
    const { iss: issuer, aud: audience, sub: subject } = oidcClaims
    const vouching = own ? [own] : [...identities.values()]
    const same = vouching.find((identity) => identity.issuer === issuer && identity.subject === subject)
    if (!same || audience === '') throw apiError('invalidOidcToken')
    return { name, issuer, audience, subject, verifiedEmail: same.verifiedEmail, vouching: same }
  })
}
