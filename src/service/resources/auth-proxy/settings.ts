/**
 * The settings of an authentication proxy (docs/protocol/auth-proxy.md#settings): which there may be, and how a change is
 * put on top of those that there are.
 */
import { apiError, type Wire } from '../../../protocol/index.ts'
import { AUTH_METHODS, isAllowedOrigin, SOCIAL_PROVIDERS } from './wire.ts'

type Settings = Wire.UpdateAuthProxyConfigIntent

/** Unstated: how many entries a list may have, and how long texts may be. */
const MOST_ENTRIES = 100
const MOST_CHARACTERS = 8_000

/** The longest lifetimes in seconds (docs/protocol/auth-proxy.md#settings). Unstated: that of a session. */
const MOST_SECONDS = {
  otpExpirationSeconds: 600,
  verificationTokenExpirationSeconds: 86_400,
  sessionExpirationSeconds: 2_592_000,
} as const

/** Throws the refusal of the first setting that cannot be. The published checks have been made. */
export function checkSettings(settings: Settings): void {
  const { allowedOrigins = [], allowedAuthMethods = [], walletKitSettings = {}, socialLinkingClientIds = [] } = settings
  const { enabledSocialProviders = [], oauthClientIds = {}, oauthRedirectUrl = '' } = walletKitSettings
  checkList('allowedOrigins', allowedOrigins, {
    rule: 'must be exact origins such as `https://app.example.com`, or `*` for any; a part of one cannot be a wildcard',
    holds: (origin) => origin === '*' || isAllowedOrigin(origin),
  })
  checkList('allowedAuthMethods', allowedAuthMethods, oneOf(AUTH_METHODS))
  checkList('walletKitSettings.enabledSocialProviders', enabledSocialProviders, oneOf(SOCIAL_PROVIDERS))
  checkList('walletKitSettings.oauthClientIds', Object.keys(oauthClientIds), oneOf(SOCIAL_PROVIDERS))
  checkList('socialLinkingClientIds', socialLinkingClientIds, { rule: 'must not be empty', holds: (id) => id !== '' })
  if (oauthRedirectUrl !== '' && URL.parse(oauthRedirectUrl) === null) {
    throw apiError('invalidField', 'walletKitSettings.oauthRedirectUrl', 'must be a URL')
  }
  for (const [field, most] of Object.entries(MOST_SECONDS)) {
    const seconds = settings[field as keyof typeof MOST_SECONDS] ?? 0
    if (seconds < 0 || seconds > most) throw apiError('invalidField', field, `must be at most ${most} seconds`)
  }
  if (JSON.stringify(settings).length > MOST_CHARACTERS) {
    throw apiError(
      'requestInvalid',
      `the settings of an authentication proxy have at most ${MOST_CHARACTERS} characters`,
    )
  }
}

/**
 * Puts a change on top of the settings that there are. An absent member stays; an empty one, or 0, goes back to its default.
 * Unstated: the schema says that all are optional.
 */
export function mergeSettings(before: Settings, change: Settings): Settings {
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => !isEmpty(value)))
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isEmpty)
  return value === '' || value === 0
}

interface Rule {
  readonly rule: string
  readonly holds: (entry: string) => boolean
}

function oneOf(values: readonly string[]): Rule {
  return { rule: `must be some of ${values.join(', ')}`, holds: (entry) => values.includes(entry) }
}

function checkList(field: string, entries: readonly string[], { rule, holds }: Rule): void {
  if (entries.length > MOST_ENTRIES) throw apiError('invalidField', field, `must have at most ${MOST_ENTRIES} entries`)
  if (!entries.every(holds)) throw apiError('invalidField', field, rule)
}
