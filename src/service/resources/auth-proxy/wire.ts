import type { Wire } from '../../../protocol/index.ts'
import type { AuthProxyRow } from './store.ts'

/** Providers of OAuth that a proxy may let in. */
export const SOCIAL_PROVIDERS = ['google', 'apple', 'facebook', 'x', 'discord'] as const

/**
 * Ways in that a proxy may offer. Unstated: the words of `allowedAuthMethods`; those of `enabledProviders`, and `oauth` for
 * issuers that have no word of their own.
 */
export const AUTH_METHODS = ['email', 'sms', 'passkey', 'wallet', 'oauth', ...SOCIAL_PROVIDERS] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

/** Unstated: what a proxy offers whose settings do not say it. All that needs no client id at a provider. */
const DEFAULT_METHODS = ['email', 'sms', 'passkey', 'wallet'] as const satisfies readonly AuthMethod[]

/** The settings of a proxy, each with its default. */
export interface AuthProxySettings extends Omit<Wire.UpdateAuthProxyConfigIntent, 'allowedAuthMethods'> {
  /** Exact, as browsers write them; `*` for any. */
  readonly allowedOrigins: readonly string[]
  /** In the order of `AUTH_METHODS`. */
  readonly methods: readonly AuthMethod[]
  readonly sessionExpirationSeconds: number
}

/** Reads the settings of a proxy. */
export function settingsOf({ settings }: Pick<AuthProxyRow, 'settings'>): AuthProxySettings {
  const { allowedAuthMethods, ...given } = JSON.parse(settings) as Wire.UpdateAuthProxyConfigIntent
  const { enabledSocialProviders = [] } = given.walletKitSettings ?? {}
  const offered = new Set<string>([...(allowedAuthMethods ?? DEFAULT_METHODS), ...enabledSocialProviders])
  return {
    ...given,
    allowedOrigins: given.allowedOrigins ?? ['*'],
    methods: AUTH_METHODS.filter((method) => offered.has(method)),
    sessionExpirationSeconds: given.sessionExpirationSeconds ?? 900,
  }
}

/**
 * Whether nobody is found by a contact but who has proved it. Unstated: where looking for one takes a proof, finding one does too
 * (docs/protocol/auth-proxy.md#whom-a-contact-leads-to).
 */
export function takesProvedContacts(settings: AuthProxySettings | undefined): boolean {
  return settings?.verificationTokenRequiredForGetAccountPii === true
}

/**
 * Whether a token was issued to an app of the organization: its party is one of those that it is for, and stands among the client
 * ids that the settings name for its provider. At an issuer that the operator has named, all clients are the operator's.
 */
export function isForOwnClient(
  voucher: string,
  { audience, audiences }: { readonly audience: string; readonly audiences: readonly string[] },
  { walletKitSettings, socialLinkingClientIds = [] }: Partial<AuthProxySettings> = {},
): boolean {
  if (voucher === 'operator') return true
  const ids = [walletKitSettings?.oauthClientIds?.[voucher], ...(voucher === 'google' ? socialLinkingClientIds : [])]
  return audiences.includes(audience) && ids.includes(audience)
}

/** Schemes by which web views of apps name themselves, beside the web's own. */
const APP_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d{1,5})?$/

/** Whether a text is one origin, exactly as browsers send it (RFC 6454 §6.2). */
export function isAllowedOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || text.includes('*')) return false
  return /^https?:$/.test(url.protocol) ? url.origin === text : APP_ORIGIN.test(text)
}
