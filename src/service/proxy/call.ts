import type { JsonObject } from '../../protocol/index.ts'
import { readIdentity, type Voucher } from '../oidc/index.ts'
import { authProxyRefusals } from '../readings.ts'
import { type AuthMethod, type AuthProxySettings, isForOwnClient } from '../resources/auth-proxy/wire.ts'
import type { OtpType, VerificationClaims } from '../verification/index.ts'
import type { Forwarder } from './forward.ts'

/** One request to a proxy whose organization, origin and form are in order. */
export interface ProxyCall extends Forwarder {
  readonly organizationId: string
  readonly organizationName: string
  readonly settings: AuthProxySettings
  /** What a source address counts for, as other organizations cannot tell it. */
  readonly userIdentifier: string
  readonly now: number
  readonly turnstileSiteKey: string | undefined
  /** Of Google's tokens, which alone link identities. */
  readonly linkingIssuer: string
  /** Who stands for what an issuer says of e-mail addresses. */
  readonly vouches: (issuer: string) => Voucher | undefined
  /** Verifies a token that the organization's contact got. Throws `ApiError`. */
  verifyToken(token: string): Promise<VerificationClaims>
  /** Reads a token without asking whether it was used: whom it still logs in, the service knows. */
  readToken(token: string): Promise<VerificationClaims>
  /** The newest sub-organization that a contact leads to. */
  findByContact(type: OtpType, contact: string): Promise<string | undefined>
  /** Counts a code in this process, before the service does for all. Throws the refusal of one too many. */
  countCode(): void
}

/** Throws the refusal of a way in that the settings do not offer. */
export function requireMethod({ settings }: ProxyCall, method: AuthMethod): void {
  if (!settings.methods.includes(method)) throw authProxyRefusals.methodNotEnabled()
}

/** The way in that each type of code is. */
export const METHOD_OF_OTP = { OTP_TYPE_EMAIL: 'email', OTP_TYPE_SMS: 'sms' } as const satisfies Record<
  OtpType,
  AuthMethod
>

/** The issuers of providers that have a word of their own. */
const ISSUERS: Readonly<Record<string, AuthMethod>> = {
  'https://appleid.apple.com': 'apple',
  'https://www.facebook.com': 'facebook',
  'https://limited.facebook.com': 'facebook',
}

/**
 * Throws the refusal of an OIDC token whose provider is not offered. Its signature is for the service to verify. A token that
 * the service has issued for a provider of OAuth 2.0 says in its subject which one it is.
 */
export function requireProvider({ settings, linkingIssuer }: ProxyCall, token: string): void {
  const identity = readIdentity(claimsOf(token))
  if (!identity) return
  const { issuer, subject } = identity
  const known = issuer === linkingIssuer ? 'google' : ISSUERS[issuer]
  const method = known ?? (/^(x|discord):/.exec(subject)?.[1] as AuthMethod | undefined) ?? 'oauth'
  if (!settings.methods.includes(method)) throw authProxyRefusals.oauthNotEnabled()
}

/**
 * The e-mail address that a token proves: its issuer, which is believed, has verified it, and has issued the token to an app of the
 * organization. What it is worth depends on its signature.
 */
export function emailIn({ vouches, settings }: ProxyCall, token: string): string | undefined {
  const identity = readIdentity(claimsOf(token))
  const voucher = identity && vouches(identity.issuer)
  return voucher && isForOwnClient(voucher, identity, settings) ? identity.verifiedEmail : undefined
}

function claimsOf(token: string): JsonObject {
  try {
    return Object(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())) as JsonObject
  } catch {
    return {}
  }
}

/** The first sub-organization of an answer, newest first. */
export async function findAccount(
  call: ProxyCall,
  filterType: string,
  filterValue: string,
): Promise<string | undefined> {
  const request = { filterType, filterValue, paginationOptions: { limit: '1' } }
  return (await call.query('list_suborgs', request)).organizationIds[0]
}

/**
 * The sub-organization of a token's bearer: the one that has the identity, or the only one where a user has proved the address
 * that Google vouches for, to whom a login would link it. Whether it does is for the service to say.
 */
export async function findAccountOfToken(call: ProxyCall, token: string): Promise<string | undefined> {
  // Looking for it has the service verify it.
  const known = await findAccount(call, 'OIDC_TOKEN', token)
  const { issuer, audience, verifiedEmail } = readIdentity(claimsOf(token)) ?? {}
  const { socialLinkingClientIds = [] } = call.settings
  const isLinked = issuer === call.linkingIssuer && socialLinkingClientIds.includes(audience ?? '')
  if (known !== undefined || !isLinked || verifiedEmail === undefined) return known
  const request = { filterType: 'EMAIL', filterValue: verifiedEmail, paginationOptions: { limit: '2' } }
  const [only, another] = (await call.query('list_verified_suborgs', request)).organizationIds
  return another === undefined ? only : undefined
}

/**
 * The sub-organization that a login is for: the one that was named, or the one that was found. Nobody is logged in to the parent
 * itself, whose users decide about everything.
 */
export async function accountOf(
  call: ProxyCall,
  named: string | undefined,
  find: () => Promise<string | undefined>,
): Promise<string> {
  const organizationId = (named || (await find()))?.toLowerCase()
  if (organizationId === undefined || organizationId === call.organizationId) throw authProxyRefusals.noAccount()
  return organizationId
}
