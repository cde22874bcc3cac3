/** The identity in the claims of an OIDC token. */
export interface OidcIdentity {
  readonly issuer: string
  /** The one that a registration keeps. */
  readonly audience: string
  /** All of them: a login matches any. */
  readonly audiences: readonly string[]
  readonly subject: string
  /** Only where the issuer says that it has verified the address; in lower case. */
  readonly verifiedEmail?: string
  /** Of the key that the token is bound to. */
  readonly nonce?: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Who stands for what an issuer says of e-mail addresses: a provider that is known by name, or the operator. */
export type Voucher = 'google' | 'apple' | 'facebook' | 'operator'

/**
 * Reads the claims of a token; `undefined` if they name nobody. Unstated: which of several audiences is kept: the party
 * that the token was issued to (`azp`) if it is told, otherwise the first
 * (docs/protocol/organizations.md#oauth-providers). Some providers rename the nonce to `tknonce`.
 */
export function readIdentity(claims: Readonly<Record<string, unknown>>): OidcIdentity | undefined {
  const { iss, sub, aud, azp, email, email_verified: verified, nonce, tknonce, exp } = claims
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter(isText)
  const audience = audiences.length > 1 && isText(azp) ? azp : audiences[0]
  if (!isText(iss) || !isText(sub) || audience === undefined) return undefined
  const bound = isText(nonce) ? nonce : tknonce
  return {
    issuer: iss,
    audience,
    audiences,
    subject: sub,
    expiresAt: typeof exp === 'number' ? exp * 1_000 : 0,
    // Some issuers write the boolean as text.
    ...(isText(email) && (verified === true || verified === 'true') ? { verifiedEmail: email.toLowerCase() } : {}),
    ...(isText(bound) ? { nonce: bound } : {}),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
