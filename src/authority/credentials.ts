/** The sorts of credentials, and what policies read of each: API keys, passkeys, and the session keys that a login gives. */
import type { CredentialFacts } from '../policy/index.ts'

/** One way in which a user can vote. */
export interface Credential {
  /** The word for it in messages. */
  readonly name: string
  readonly facts: CredentialFacts
  /** Milliseconds since the epoch. @default never */
  readonly expiresAt?: number | undefined
}

const API_KEY = 'CREDENTIAL_TYPE_API_KEY_'

/** What policies read of an API key; of a session key that a login gave, `type` says which login it was. */
export function apiKeyFacts(key: {
  readonly id: string
  readonly userId: string
  /** A curve such as `P256`, or the whole type. */
  readonly type: string
  readonly publicKey: string
  readonly sessionProfileId?: string | null | undefined
}): CredentialFacts {
  const type = key.type.startsWith('CREDENTIAL_TYPE_') ? key.type : `${API_KEY}${key.type}`
  const facts = { id: key.id, user_id: key.userId, type, public_key: key.publicKey }
  return key.sessionProfileId ? { ...facts, session_profile_id: key.sessionProfileId } : facts
}

/** What policies read of a passkey; where the public key is not known, nothing of it. */
export function passkeyFacts(passkey: {
  readonly id: string
  readonly userId: string
  readonly credentialId: string
  readonly publicKey?: string | undefined
}): CredentialFacts {
  const { id, userId, credentialId, publicKey } = passkey
  const type = 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR'
  const facts = { id, user_id: userId, type, credential_id: credentialId }
  return publicKey === undefined ? facts : { ...facts, public_key: publicKey }
}

/** As which credential a login that is not yet made, or an attested token, is judged, by the login. */
export const LOGIN_TYPES = {
  oauth: 'CREDENTIAL_TYPE_OAUTH_KEY_P256',
  code: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
} as const

/** What policies read of the session key that a user gets by logging in: its id and public key are not known before. */
export function loginFacts(userId: string, login: keyof typeof LOGIN_TYPES): CredentialFacts {
  return { id: `${userId} ${login}`, user_id: userId, type: LOGIN_TYPES[login] }
}

/** What policies read of a token that proved who somebody is: the login by which such a token is had, and the stamp's own key. */
export function attestedFacts(token: {
  readonly id: string
  readonly userId: string
  readonly login: keyof typeof LOGIN_TYPES
  readonly publicKey: string
}): CredentialFacts {
  return { id: token.id, user_id: token.userId, type: LOGIN_TYPES[token.login], public_key: token.publicKey }
}

/** When a key expires: its seconds count from its creation (docs/protocol/stamps.md#from-stamp-to-caller). Undefined: never. */
export function expiresAt(createdAtMs: number, expirationSeconds: number | null | undefined): number | undefined {
  return expirationSeconds === null || expirationSeconds === undefined
    ? undefined
    : createdAtMs + expirationSeconds * 1000
}

/** Whether a credential is refused at this moment because it has expired. */
export function isExpired(credential: { readonly expiresAt?: number | undefined }, nowMs: number): boolean {
  return credential.expiresAt !== undefined && nowMs >= credential.expiresAt
}
