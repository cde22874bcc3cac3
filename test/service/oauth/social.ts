import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stand-ins of the endpoints of X and Discord that this service asks, on this machine: codes with PKCE, and users. */
export interface SocialProviders {
  readonly url: string
  /** What was asked, in order: the path, and how it was refused. */
  readonly asked: readonly string[]
  /** Issues a code as the provider's page would, for a client, a redirect and a verifier. */
  code(grant: Partial<Grant>): string
  /** Answers the next request in this way. */
  next(answer: SocialAnswer): void
  close(): Promise<void>
}

export interface Grant {
  readonly userId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  readonly codeVerifier: string
}

export type SocialAnswer = { readonly status: number; readonly body?: string; readonly location?: string } | 'nothing'

/** What a client of these providers is told, where a test says nothing else. */
export const GRANT: Grant = {
  userId: '2244994945',
  clientId: 'client-of-acme',
  clientSecret: 'planted-client-secret-%/+ü',
  redirectUri: 'https://acme.test/signed-in',
  codeVerifier: 'planted-code-verifier-of-forty-three-characters',
}
/** Of every access token. */
export const ACCESS_TOKEN = 'planted-access-token-'

export async function startSocialProviders(): Promise<SocialProviders> {
  const codes = new Map<string, Grant & { readonly challenge: string }>()
  const tokens = new Map<string, string>()
  const asked: string[] = []
  let next: SocialAnswer | undefined
  let made = 0
  const server = createServer(async (request, response) => {
    const said = next
    next = undefined
    asked.push(request.url!)
    if (said === 'nothing') return
    const answer = (status: number, body: unknown) => {
      if (status !== 200) asked.push(`${request.url} ${status}`)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (said) {
      response.writeHead(said.status, said.location === undefined ? {} : { location: said.location }).end(said.body)
      return
    }
    if (request.method === 'POST' && /^\/(2|api)\/oauth2\/token$/.test(request.url!)) {
      const form = new URLSearchParams(await read(request))
      const grant = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const proved = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      const isRight =
        grant &&
        form.get('grant_type') === 'authorization_code' &&
        form.get('redirect_uri') === grant.redirectUri &&
        proved === grant.challenge
      if (!isRight) return answer(400, { error: 'invalid_grant' })
      if (!isClient(request, grant)) return answer(401, { error: 'invalid_client' })
      const token = `${ACCESS_TOKEN}${made++}`
      tokens.set(token, grant.userId)
      return answer(200, { access_token: token, token_type: 'bearer', expires_in: 7200 })
    }
    const userId = tokens.get((request.headers.authorization ?? '').replace(/^Bearer /, ''))
    if (userId === undefined) return answer(401, { error: 'unauthorized' })
    if (request.url === '/2/users/me') return answer(200, { data: { id: userId, name: 'Ada', username: 'ada' } })
    if (request.url === '/api/users/@me') return answer(200, { id: userId, username: 'ada' })
    return answer(404, {})
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    code(overrides) {
      const grant = { ...GRANT, ...overrides }
      const code = `planted-code-${made++}`
      codes.set(code, { ...grant, challenge: createHash('sha256').update(grant.codeVerifier).digest('base64url') })
      return code
    },
    next(answer) {
      next = answer
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function isClient(request: IncomingMessage, { clientId, clientSecret }: Grant): boolean {
  const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  const decode = (text: string) => new URLSearchParams(`=${text}`).get('')
  return decode(id) === clientId && decode(secret) === clientSecret
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString()
}
