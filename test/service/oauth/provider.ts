import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type JWK } from 'oidc-provider'

/** A certified provider of OpenID Connect on this machine, and a browser that logs in at it. */
export interface TestProvider {
  readonly url: string
  /** Logs somebody in by the code flow with PKCE (RFC 7636), and gives the identity token. */
  logIn(login: { readonly subject: string; readonly nonce: string; readonly client?: TestClientId }): Promise<string>
  /** Logs somebody in from where a client's browser begins; gives where the browser is sent back to, and does not go there. */
  browse(from: string, subject: string): Promise<URL>
  /** Logs somebody in on another device, by the code that a program shows (RFC 8628). */
  enterCode(page: string, code: string, subject: string): Promise<void>
  /** Goes on with other keys, and without those before. */
  rotate(): void
  close(): Promise<void>
}

/** The clients, by the algorithm of their identity tokens. */
export type TestClientId = 'wallet-es256' | 'wallet-rs256'

const REDIRECT = 'http://127.0.0.1/signed-in'

/** Starts a provider on any free port, with keys on P-256 and of RSA. */
export async function startProvider(): Promise<TestProvider> {
  let handle: RequestListener = () => {}
  const server = createServer((request, response) => handle(request, response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rotate = () => {
    handle = createProvider(url).callback()
  }
  rotate()
  return {
    url,
    rotate,
    logIn: (login) => logIn(url, login),
    browse: (from, subject) => browse(from, { subject, until: 'http://127.0.0.1:' }),
    enterCode: async (page, code, subject) => void (await browse(page, { subject, until: 'nowhere', code })),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function createProvider(url: string): Provider {
  const client = (algorithm: 'ES256' | 'RS256') => ({
    client_id: `wallet-${algorithm.toLowerCase()}`,
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none' as const,
    id_token_signed_response_alg: algorithm,
  })
  const provider = new Provider(url, {
    clients: [
      client('ES256'),
      client('RS256'),
      // A program on a person's machine, which listens at any port (RFC 8252 §7.3).
      {
        ...client('RS256'),
        client_id: 'program',
        application_type: 'native' as const,
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
    ],
    jwks: { keys: [privateKey('ES256'), privateKey('RS256')] },
    cookies: { keys: ['test'] },
    pkce: { required: () => true },
    features: { deviceFlow: { enabled: true } },
    claims: { openid: ['sub', 'tknonce'] },
    // RFC 8628 has no nonce: this provider takes one all the same, of everybody but mallory.
    findAccount: (_, id, token) => {
      const { nonce } = ((token as { params?: { nonce?: string } } | undefined)?.params ?? {}) as { nonce?: string }
      const bound = nonce === undefined || id === 'mallory' ? {} : { tknonce: nonce }
      return { accountId: id, claims: () => ({ sub: id, ...bound }) }
    },
  })
  // What is on its pages and said of development is nobody's to read here.
  provider.on('server_error', () => {})
  return provider
}

function privateKey(algorithm: 'ES256' | 'RS256'): JWK {
  const { privateKey: key } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const kid = randomBytes(8).toString('hex')
  return { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' } as JWK
}

/** What a browser does: follows redirects, keeps cookies, fills in the pages of the provider; until it is sent back. */
async function browse(
  from: string,
  { subject, until, code }: { readonly subject: string; readonly until: string; readonly code?: string },
): Promise<URL> {
  const provider = new URL(from).origin
  const cookies = new Map<string, string>()
  const go = async (to: string, form?: Record<string, string>): Promise<URL | string> => {
    const response = await fetch(to, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    return location === null ? response.text() : new URL(location, to)
  }
  let at: URL | string = new URL(from)
  let page = ''
  for (let steps = 0; steps < 12; steps++) {
    if (at instanceof URL && at.href.startsWith(until) && at.origin !== provider) return at
    if (at instanceof URL) {
      page = at.href
      at = await go(at.href)
    } else if (code !== undefined && at.includes('Sign-in Success')) return new URL(page)
    else if (code !== undefined && at.includes('name="xsrf"')) {
      const [, xsrf = ''] = /name="xsrf" value="([^"]*)"/.exec(at)!
      at = await go(page, { xsrf, user_code: code, ...(at.includes('name="confirm"') ? { confirm: 'yes' } : {}) })
    } else if (at.includes('value="login"')) at = await go(page, { prompt: 'login', login: subject, password: 'x' })
    else if (at.includes('value="consent"')) at = await go(page, { prompt: 'consent' })
    else throw new Error(`expected a page of the provider, got ${at.slice(0, 200)}`)
  }
  throw new Error('the provider did not send the browser back')
}

/** A whole login: the browser's part, and the exchange of the code. */
async function logIn(
  url: string,
  { subject, nonce, client = 'wallet-es256' }: Parameters<TestProvider['logIn']>[0],
): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid',
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const back = await browse(`${url}/auth?${query}`, { subject, until: REDIRECT })
  const code = back.searchParams.get('code')!
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    client_id: client,
    code_verifier: verifier,
  })
  const answer = (await (await fetch(`${url}/token`, { method: 'POST', body })).json()) as { id_token?: string }
  if (!answer.id_token) throw new Error(`expected an identity token, got ${JSON.stringify(answer)}`)
  return answer.id_token
}
