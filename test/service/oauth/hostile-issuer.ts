import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT } from 'jose'

/** A key of an issuer, and its public half as it is published. */
export interface IssuerKey {
  readonly kid: string
  readonly alg: 'ES256' | 'RS256'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Issuers on this machine, one a path, each of which does something wrong but the one at `/honest`. */
export interface HostileIssuers {
  readonly url: string
  /** Published by the honest one, and by those that are wrong in another thing. */
  readonly es256: IssuerKey
  readonly rs256: IssuerKey
  /** Published by nobody. */
  readonly stray: IssuerKey
  /** Signs claims over those of an ordinary token of the honest issuer. */
  sign(
    claims?: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
    key?: IssuerKey,
  ): Promise<string>
  /** What was asked for, by its path. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

export async function startHostileIssuers(): Promise<HostileIssuers> {
  const [es256, rs256, stray] = [makeKey('ES256'), makeKey('RS256'), makeKey('ES256')]
  const published = [es256, rs256].map(({ publicKey, kid, alg }) => ({
    ...publicKey.export({ format: 'jwk' }),
    ...{ kid, alg, use: 'sig' },
  }))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const [, name, ...rest] = request.url!.split('/')
    const send = (body: unknown) => response.writeHead(200).end(JSON.stringify(body))
    const issuer = `${url}/${name}`
    if (rest.join('/') === 'jwks') {
      if (name === 'oversize') return send({ keys: published, padding: 'x'.repeat(300_000) })
      if (name === 'no-keys') return send({})
      if (name === 'other-key') return send({ keys: [published[1]] })
      if (name === 'keys-elsewhere') return response.writeHead(302, { location: `${url}/honest/jwks` }).end()
      return send({ keys: published })
    }
    if (rest.join('/') !== '.well-known/openid-configuration') return response.writeHead(404).end()
    if (name === 'redirect')
      return response.writeHead(302, { location: `${url}/honest/.well-known/openid-configuration` }).end()
    if (name === 'other-name') return send({ issuer: `${url}/honest`, jwks_uri: `${url}/honest/jwks` })
    if (name === 'private-keys') return send({ issuer, jwks_uri: 'https://169.254.169.254/jwks' })
    if (name === 'file-keys') return send({ issuer, jwks_uri: 'file:///etc/passwd' })
    if (name === 'broken') return response.writeHead(500).end('{}')
    if (name === 'html') return response.writeHead(200).end('<html>')
    return send({ issuer, jwks_uri: `${issuer}/jwks` })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    es256,
    rs256,
    stray,
    asked,
    sign(claims = {}, header = {}, key = es256) {
      const now = Math.floor(Date.now() / 1000)
      const usual = { iss: `${url}/honest`, aud: 'client', sub: 'ada', iat: now, exp: now + 3600 }
      const jwt = new SignJWT({ ...usual, ...claims, jti: randomBytes(8).toString('hex') })
      return jwt.setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey)
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function makeKey(alg: IssuerKey['alg']): IssuerKey {
  const pair =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...pair, kid: randomBytes(8).toString('hex'), alg }
}
