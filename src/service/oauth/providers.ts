/**
 * The providers that this service knows by name, one row each (docs/protocol/oauth.md#providers). Those that speak OpenID
 * Connect vouch by their own tokens, as every other issuer may; of the others the service asks who somebody is, and vouches
 * itself.
 */
import type { Wire } from '../../protocol/index.ts'
import type { Voucher } from '../oidc/index.ts'

interface OidcRow {
  readonly protocol: 'oidc'
  /** The issuer that its tokens name. */
  readonly url: string
}

interface Oauth2Row {
  readonly protocol: 'oauth2'
  readonly url: string
  /** Where a code is exchanged for an access token (RFC 6749 §4.1.3, RFC 7636 §4.5). */
  readonly tokenPath: string
  /** Where the bearer of an access token is described. */
  readonly userPath: string
  readonly provider: Wire.Oauth2Provider
  /** The members of the description that lead to the user's id. */
  readonly userId: readonly string[]
}

const PROVIDERS = {
  google: { protocol: 'oidc', url: 'https://accounts.google.com' },
  apple: { protocol: 'oidc', url: 'https://appleid.apple.com' },
  facebook: { protocol: 'oidc', url: 'https://www.facebook.com' },
  x: {
    protocol: 'oauth2',
    url: 'https://api.x.com',
    tokenPath: '/2/oauth2/token',
    userPath: '/2/users/me',
    provider: 'OAUTH2_PROVIDER_X',
    userId: ['data', 'id'],
  },
  discord: {
    protocol: 'oauth2',
    url: 'https://discord.com',
    tokenPath: '/api/oauth2/token',
    userPath: '/api/users/@me',
    provider: 'OAUTH2_PROVIDER_DISCORD',
    userId: ['id'],
  },
} as const satisfies Readonly<Record<string, OidcRow | Oauth2Row>>

export type ProviderName = keyof typeof PROVIDERS
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[]

/** Where a provider is instead of where its row says, without a slash at its end: its stand-in, or one that is self-hosted. */
export type ProviderUrls = { readonly [Name in ProviderName]?: string }

/** A provider without OpenID Connect, at the place where it is asked. */
export interface Oauth2Provider {
  /** What the subjects of its users begin with. */
  readonly name: ProviderName
  readonly tokenUrl: string
  readonly userUrl: string
  readonly userId: readonly string[]
}

/** Finds the provider of a credential; undefined for one that the table does not have. */
export function findOauth2Provider(provider: string, urls: ProviderUrls): Oauth2Provider | undefined {
  for (const name of PROVIDER_NAMES) {
    const row = PROVIDERS[name]
    if (row.protocol !== 'oauth2' || row.provider !== provider) continue
    const url = urls[name] ?? row.url
    return { name, tokenUrl: `${url}${row.tokenPath}`, userUrl: `${url}${row.userPath}`, userId: row.userId }
  }
  return undefined
}

/** The issuer of the tokens of a provider with OpenID Connect. */
export function issuerOf(name: 'google' | 'apple' | 'facebook', urls: ProviderUrls): string {
  return urls[name] ?? PROVIDERS[name].url
}

/** Facebook's tokens name another issuer where an app logs in with limited tracking. */
const LIMITED_FACEBOOK = 'https://limited.facebook.com'

/** What an operator says of issuers. */
export interface IssuerSettings {
  /** Where providers are instead of at their public places. @default none */
  readonly providerUrls?: ProviderUrls
  /**
   * Origins of issuers that may speak plain http and stand on a private address, such as `http://localhost:8080`; they are
   * believed about e-mail addresses. @default none: an issuer is asked by https at public addresses alone
   */
  readonly privateIssuers?: readonly string[]
  /**
   * Issuers that are believed about e-mail addresses, exactly as their tokens name them: on one host there may be issuers of
   * many. @default none
   */
  readonly vouchingIssuers?: readonly string[]
}

/**
 * Who stands for what an issuer says of e-mail addresses: a provider of the table, or the operator who has named it. Nobody for
 * any other: it may say of any address that it is somebody's (docs/protocol/oauth.md#addresses-that-a-token-proves).
 */
export function createVouching({
  providerUrls: urls = {},
  privateIssuers = [],
  vouchingIssuers = [],
}: IssuerSettings): (issuer: string) => Voucher | undefined {
  const known = new Map<string, Voucher>([
    ...vouchingIssuers.map((issuer) => [issuer, 'operator'] as const),
    [LIMITED_FACEBOOK, 'facebook'],
    ...(['google', 'apple', 'facebook'] as const).map((name) => [issuerOf(name, urls), name] as const),
  ])
  const named = new Set(privateIssuers.map((url) => new URL(url).origin))
  const isNamed = (issuer: string) => URL.canParse(issuer) && named.has(new URL(issuer).origin)
  return (issuer) => known.get(issuer) ?? (isNamed(issuer) ? 'operator' : undefined)
}
