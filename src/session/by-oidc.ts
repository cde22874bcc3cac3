import { createHash } from 'node:crypto'
import { QuorateError } from '../diagnostics/index.ts'
import type { Secret } from '../telemetry/index.ts'
import type { Session } from './kept.ts'
import { BROWSER_WAIT_MS, inTime, listenForBrowser } from './loopback.ts'
import type { BrowserOptions } from './passkey-page.ts'
import { createSessionKey } from './proof.ts'
import { createAttestedStamper, type LoginPlace, stampLogin } from './stamped-login.ts'

/** A login at an OpenID provider, in the browser. */
export interface OidcLogin extends LoginPlace, BrowserOptions {
  readonly issuer: string
  readonly clientId: string
  /** For providers that give installed programs a secret, which is none. */
  readonly clientSecret?: Secret | undefined
}

/**
 * Logs a person in at an OpenID provider that is registered with their user: authorization code with PKCE, back to a page of
 * this process (RFC 8252 §7.3). The token of the provider is bound to the key of the session by its nonce, and good for
 * nothing else. Throws `session/…`, or what the API refuses with.
 */
export async function logInByOidc(login: OidcLogin): Promise<Session> {
  const key = createSessionKey(login.randomBytes)
  const nonce = createHash('sha256').update(key.publicKey, 'ascii').digest('hex')
  const oidcToken = await askProvider(login, nonce)
  return stampLogin(login, { key, stamper: createAttestedStamper(key, oidcToken, 'OIDC') })
}

async function askProvider(
  { issuer, clientId, clientSecret, show, waitMs }: OidcLogin,
  nonce: string,
): Promise<string> {
  const oidc = await import('openid-client')
  const arrived = Promise.withResolvers<URL>()
  const page = await listenForBrowser('127.0.0.1', ({ method, url }) => {
    if (url.pathname !== '/callback' || method !== 'GET') return undefined
    arrived.resolve(url)
    return { status: 200, body: 'Done. Return to the terminal; this page can be closed.', type: 'text/plain' }
  })
  try {
    const server = new URL(issuer)
    const execute = isLoopback(server) ? [oidc.allowInsecureRequests] : []
    const authentication = clientSecret ? oidc.ClientSecretPost(clientSecret.reveal()) : oidc.None()
    const provider = await oidc.discovery(server, clientId, undefined, authentication, { execute })
    const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
    const asked = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: `${page.origin}/callback`,
      scope: 'openid email',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce,
    })
    show(asked.href)
    const back = await inTime(arrived.promise, waitMs ?? BROWSER_WAIT_MS)
    const tokens = await oidc.authorizationCodeGrant(provider, back, {
      pkceCodeVerifier,
      expectedState,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    return tokens.id_token!
  } catch (error) {
    if (error instanceof QuorateError) throw error
    const said = error instanceof Error ? error.message : String(error)
    throw new QuorateError('session/refused', `the provider \`${issuer}\` did not log in: ${said}`, {
      facts: { issuer, clientId },
      next: 'check the issuer and the client id, and that the client may come back to http://127.0.0.1 at any port',
      cause: error,
    })
  } finally {
    page.close()
  }
}

/** A provider on this machine need not have a certificate. */
function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
