import { type ClientOptions, createQueryClient } from '../client/index.ts'
import { createP256KeyBytes, type RandomBytes, sha256, verifyEs256 } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { decodeBase64, encodeHex, encodeUtf8 } from '../encoding/index.ts'
import { createApiKeyStamper } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'
import type { Session } from './kept.ts'

/**
 * Public keys of the service (hex, uncompressed) that its answers at a login are checked with. Where none is known, the
 * connection is all that vouches for the answer.
 */
export interface PinnedKeys {
  /** Signs session tokens. */
  readonly notarizerPublicKey?: string | undefined
  /** Signs targets for one-time codes, and verification tokens. */
  readonly tlsFetcherPublicKey?: string | undefined
}

/** The key of a session to be: made here, and sent nowhere. */
export interface SessionKey {
  readonly privateKey: Secret
  readonly publicKey: string
}

/** Makes the key of a session. */
export function createSessionKey(randomBytes: RandomBytes): SessionKey {
  const { privateKey, publicKey } = createP256KeyBytes(randomBytes)
  return { privateKey: new Secret(encodeHex(privateKey)), publicKey }
}

/**
 * Makes sure that a session token is about this key, is signed by the service where its key is known, and that the API takes
 * the key (by asking it who is asking). Throws `session/not-genuine`, or what the API refuses with.
 */
export async function proveSession(
  token: string,
  {
    key,
    keys,
    ...api
  }: Omit<ClientOptions, 'organizationId' | 'stamper'> & { readonly key: SessionKey; readonly keys: PinnedKeys },
): Promise<Session> {
  const claims = readClaims(token)
  const { exp, public_key: publicKey, organization_id: organizationId } = claims
  if (publicKey !== key.publicKey || typeof organizationId !== 'string' || typeof exp !== 'number')
    throw notGenuine('the session token is about another key')
  if (keys.notarizerPublicKey && !isSigned(token, keys.notarizerPublicKey, sha256))
    throw notGenuine('the session token is not signed by the service')
  const client = createQueryClient({ ...api, organizationId, stamper: createApiKeyStamper(key) })
  const { userId, username: userName } = await client.query('whoami', {})
  if (userId !== claims['user_id']) throw notGenuine('the session token names another user than the API does')
  return { baseUrl: api.baseUrl, organizationId, userId, userName, ...key, expiresAt: exp * 1000 }
}

/** The claims of a token, which says nothing about who wrote it. Throws `session/not-genuine`. */
function readClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(decodeBase64(token.split('.')[1]!)))
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw notGenuine('what should be a token is none')
}

/** Whether a token is signed by ES256 with this key, over its text or over what `digest` makes of it. */
export function isSigned(token: string, publicKey: string, digest: (text: string) => Uint8Array = encodeUtf8): boolean {
  const end = token.lastIndexOf('.')
  try {
    return verifyEs256(publicKey, digest(token.slice(0, end)), decodeBase64(token.slice(end + 1)))
  } catch {
    return false
  }
}

export function notGenuine(why: string): QuorateError {
  return new QuorateError('session/not-genuine', `the login was broken off: ${why}`, {
    next: 'check the URLs of the API and of the proxy: another program may be answering; nothing was kept',
  })
}
