/** Providers of OAuth that a proxy may let in. */
export const SOCIAL_PROVIDERS = ['google', 'apple', 'facebook', 'x', 'discord'] as const

/**
 * Ways in that a proxy may offer. Unstated: the words of `allowedAuthMethods`; those of `enabledProviders`, and `oauth` for
 * issuers that have no word of their own.
 */
export const AUTH_METHODS = ['email', 'sms', 'passkey', 'wallet', 'oauth', ...SOCIAL_PROVIDERS] as const

/** Schemes by which web views of apps name themselves, beside the web's own. */
const APP_ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d{1,5})?$/

/** Whether a text is one origin, exactly as browsers send it (RFC 6454 §6.2). */
export function isAllowedOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || text.includes('*')) return false
  return /^https?:$/.test(url.protocol) ? url.origin === text : APP_ORIGIN.test(text)
}
