import { OAuth2Server } from 'oauth2-mock-server'

/** An OIDC issuer on this machine, with real keys, discovery and signatures. */
export interface TestIssuer {
  readonly url: string
  /** How often it was asked for its configuration. */
  readonly fetches: () => number
  /** Adds a key, and returns its name. */
  addKey(): Promise<string>
  /** Signs a token; `claims` replace or, when undefined, remove what it would say. */
  token(claims?: Readonly<Record<string, unknown>>, options?: { readonly kid?: string }): Promise<string>
  close(): Promise<void>
}

/** Starts an issuer on any free port. */
export async function startIssuer(algorithm: 'RS256' | 'ES256' = 'RS256'): Promise<TestIssuer> {
  const server = new OAuth2Server()
  await server.issuer.keys.generate(algorithm)
  await server.start(0, '127.0.0.1')
  let fetches = 0
  server.service.on('beforeWellKnownOpenIdConfiguration', () => fetches++)
  const url = `http://127.0.0.1:${server.address().port}`
  server.issuer.url = url
  return {
    url,
    fetches: () => fetches,
    addKey: async () => (await server.issuer.keys.generate(algorithm)).kid,
    token: (claims = {}, { kid } = {}) =>
      server.issuer.buildToken({
        kid,
        scopesOrTransform: (_, payload) => {
          Object.assign(payload, { sub: 'subject', aud: 'client', ...claims })
        },
      }),
    close: () => server.stop(),
  }
}
