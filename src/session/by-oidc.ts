import { createHash } from 'node:crypto'
import type { Configuration } from 'openid-client'
import { messageOf, QuorateError } from '../diagnostics/index.ts'
import { isLoopback } from '../local/index.ts'
import type { Secret } from '../telemetry/index.ts'
import { BROWSER_WAIT_MS, inTime, listenForBrowser } from './loopback.ts'
import type { BrowserOptions } from './passkey-page.ts'
import { createSessionKey } from './proof.ts'
import { createAttestedStamper, type Proof } from './stamped-login.ts'

/** What somebody is to prove at an OpenID provider. */
export interface OidcProof extends BrowserOptions {
  readonly issuer: string
  readonly clientId: string
  /** For providers that give installed programs a secret, which is none. */
  readonly clientSecret?: Secret | undefined
  /**
   * Shows a page and the code that the person types there, on whatever device has a browser (RFC 8628). @default a browser of
   * this machine comes back to a page of this process
   */
  readonly showCode?: ((page: string, code: string) => void) | undefined
}

/** A provider as it has described itself. */
interface Provider {
  readonly oidc: typeof import('openid-client')
  readonly configuration: Configuration
}

/**
 * Has a person prove themselves at an OpenID provider: requests are stamped with its token and with the key that the token is
 * bound to by its nonce, and is good for nothing else. Throws `session/…`.
 */
export async function proveByOidc(asked: OidcProof): Promise<Proof> {
  const key = createSessionKey(asked.randomBytes)
  const nonce = createHash('sha256').update(key.publicKey, 'ascii').digest('hex')
  const oidcToken = await askProvider(asked, nonce)
  return { key, stamper: createAttestedStamper(key, oidcToken, 'OIDC') }
}

async function askProvider(asked: OidcProof, nonce: string): Promise<string> {
  const { issuer, clientId, clientSecret, showCode } = asked
  const oidc = await import('openid-client')
  try {
    const server = new URL(issuer)
    // A provider on this machine need not have a certificate.
    const execute = isLoopback(server.hostname) ? [oidc.allowInsecureRequests] : []
    const authentication = clientSecret ? oidc.ClientSecretPost(clientSecret.reveal()) : oidc.None()
    const configuration = await oidc.discovery(server, clientId, undefined, authentication, { execute })
    const provider = { oidc, configuration }
    return showCode ? await askElsewhere(provider, showCode, nonce) : await askHere(provider, asked, nonce)
  } catch (error) {
    if (error instanceof QuorateError) throw error
    const said = messageOf(error)
    throw new QuorateError('session/refused', `the provider \`${issuer}\` did not log in: ${said}`, {
      facts: { issuer, clientId },
      next: showCode
        ? 'check the issuer and the client id, and that the client may log in on another device'
        : 'check the issuer and the client id, and that the client may come back to http://127.0.0.1 at any port',
      cause: error,
    })
  }
}

/** Authorization code with PKCE, back to a page of this process (RFC 8252 §7.3). */
async function askHere(
  { oidc, configuration }: Provider,
  { show, waitMs }: BrowserOptions,
  nonce: string,
): Promise<string> {
  const arrived = Promise.withResolvers<URL>()
  const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
  const page = await listenForBrowser('127.0.0.1', ({ method, url }) => {
    if (url.pathname !== '/callback' || method !== 'GET') return undefined
    // Any page can lead the browser here: what does not come of this login does not end it.
    if (url.searchParams.get('state') !== expectedState) return undefined
    arrived.resolve(url)
    return { status: 200, body: 'Done. Return to the terminal; this page can be closed.', type: 'text/plain' }
  })
  try {
    const asked = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: `${page.origin}/callback`,
      scope: SCOPE,
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce,
    })
    show(asked.href)
    const back = await inTime(arrived.promise, waitMs ?? BROWSER_WAIT_MS)
    const tokens = await oidc.authorizationCodeGrant(configuration, back, {
      pkceCodeVerifier,
      expectedState,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    return tokens.id_token!
  } finally {
    page.close()
  }
}

/**
 * A code that the person types into a page of the provider, wherever they have a browser (RFC 8628). That specification has no
 * nonce: a provider that does not take one here makes tokens that are good for any key, which the API refuses.
 */
async function askElsewhere(
  { oidc, configuration }: Provider,
  showCode: NonNullable<OidcProof['showCode']>,
  nonce: string,
): Promise<string> {
  const { issuer, device_authorization_endpoint: endpoint } = configuration.serverMetadata()
  if (endpoint === undefined) throw noDevice(`the provider \`${issuer}\` offers no login on another device`)
  const asked = await oidc.initiateDeviceAuthorization(configuration, { scope: SCOPE, nonce })
  showCode(asked.verification_uri, asked.user_code)
  const tokens = await oidc.pollDeviceAuthorizationGrant(configuration, asked)
  // Some providers have another name for it (docs/protocol/oauth.md).
  const claims: Readonly<Record<string, unknown>> = tokens.claims() ?? {}
  if (tokens.id_token === undefined || (claims['nonce'] ?? claims['tknonce']) !== nonce)
    throw noDevice(`the provider \`${issuer}\` did not bind its token to the key of this machine`)
  return tokens.id_token
}

const SCOPE = 'openid email'

function noDevice(message: string): QuorateError {
  return new QuorateError('session/refused', message, {
    next: 'log in without `--device`, where there is a browser; nothing was kept',
  })
}
