import { compressP256, compressSecp256k1 } from '../../crypto/index.ts'
import { apiError, type Wire } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'

/** The sorts of keys that logins register, and what an unnamed one is called (docs/protocol/sessions.md#login-keys). */
export const LOGIN_KINDS = {
  CREDENTIAL_TYPE_LOGIN: 'Login',
  CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256: 'Read Write Session',
  CREDENTIAL_TYPE_OTP_AUTH_KEY_P256: 'OTP Auth',
  CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256: 'Email Auth',
  CREDENTIAL_TYPE_OAUTH_KEY_P256: 'Oauth',
  CREDENTIAL_TYPE_RECOVER_USER_KEY_P256: 'Recovery',
} as const satisfies { readonly [Kind in Wire.CredentialType]?: string }
export type LoginKind = keyof typeof LOGIN_KINDS

/** A key that a login registers. */
export interface NewLoginKey {
  readonly kind: LoginKind
  /** Hex. P-256 or secp256k1, compressed or not, or Ed25519. */
  readonly publicKey: string
  /** @default the kind's, and the time */
  readonly name?: string | undefined
  /** Whole seconds as text, as requests have them. @default the profile's, or 900 */
  readonly expirationSeconds?: string | undefined
  /** Whether the user's earlier keys of this kind end. */
  readonly invalidateExisting?: boolean | undefined
  readonly sessionProfileId?: string | undefined
}

/** How long a login lasts that nobody limited. */
export const DEFAULT_SECONDS = 900

/** Reads a number of seconds as requests have it; an empty text is none. Throws the refusal of anything else. */
export function readExpirationSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^[0-9]{1,10}$/.test(text) || Number(text) === 0) throw apiError('invalidApiKeyExpiration')
  return Number(text)
}

/**
 * Reads the public key of a login: compressed, lower case. Unstated: which curves it may be on. Those of API keys, since some
 * clients log in with a key of a wallet (docs/protocol/sessions.md#login-keys). Throws the refusal of what is no key.
 */
export function readLoginPublicKey({ work }: Pick<HandlerContext, 'work'>, text: string): string {
  const hex = text.replace(/^0x/i, '').toLowerCase()
  const compressed = compressP256(hex) ?? compressSecp256k1(hex)
  if (compressed !== undefined) return compressed
  const input = [{ publicKey: hex, curve: 'API_KEY_CURVE_ED25519' }] as const
  if (/^[0-9a-f]{64}$/.test(hex) && work.run('checkPublicKeys', { input, weight: 1 }).areKeys) return hex
  throw apiError('invalidField', 'publicKey', 'must be a public key in hex')
}
