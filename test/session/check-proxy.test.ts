/** What the walk through a proxy says of broken ones: real servers that answer as misconfigured ones do. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClientError } from '../../src/client/index.ts'
import { randomBytes } from '../../src/crypto/index.ts'
import { QuorateError } from '../../src/diagnostics/index.ts'
import { checkProxy, createLoginProxy } from '../../src/session/index.ts'
import { explainFault } from '../../src/session/proxy-advice.ts'
import { type ProxyStage, startProxyStage } from '../service/proxy/stage.ts'

type ProxyWalk = Parameters<typeof checkProxy>[0]

let stage: ProxyStage
const servers: Server[] = []
beforeAll(async () => {
  // Its walks come from one address, and are quicker than people.
  stage = await startProxyStage({ proxy: { rate: 1_000 } })
})
afterAll(async () => {
  for (const server of servers) server.close()
  await stage?.close()
})

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const page = (status: number) =>
  listen((_, response) => response.writeHead(status, { 'content-type': 'text/html' }).end('<html>welcome</html>'))

/** A reverse proxy that passes on what it is asked, and says of CORS what it likes. */
const front = (headers: Record<string, string>, preflight: number) =>
  listen(async (request, response) => {
    if (request.method === 'OPTIONS') return void response.writeHead(preflight, headers).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const sent = Object.entries(request.headers).filter(([name]) => /^x-|^content-type$/.test(name)) as [
      string,
      string,
    ][]
    const at = `${stage.proxyUrl}${request.url}`
    const answer = await fetch(at, { method: 'POST', headers: sent, body: Buffer.concat(chunks) })
    response.writeHead(answer.status, headers).end(await answer.text())
  })

async function walk(changes: Partial<ProxyWalk>) {
  const findings = await checkProxy({
    url: stage.proxyUrl,
    configId: stage.configId,
    baseUrl: stage.url,
    keys: stage.service.bootstrap,
    now: Date.now,
    randomBytes,
    origin: 'https://app.example.com',
    signUp: true,
    askCode: async () => undefined,
    tell: () => undefined,
    ...changes,
  })
  return findings.map(({ step, state, found, next }) => [step, state, next === undefined ? found : `${found}; ${next}`])
}

const UNKNOWN = ['refusals', 'browsers', 'sign-up', 'code'].map((step) => [
  step,
  'not tried',
  'the configuration is not known',
])
const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' }
const other = `04${'11'.repeat(64)}`

describe('proxy check', () => {
  test.each<{ name: string; changes: () => Partial<ProxyWalk> | Promise<Partial<ProxyWalk>>; expected: RegExp }>([
    {
      name: 'an unknown configuration',
      changes: () => ({ configId: '00000000-0000-4000-8000-00000000dead' }),
      expected: /^auth proxy configuration not found; give the id .*`authProxyConfigId`/,
    },
    {
      name: 'a page',
      changes: async () => ({ url: await page(200) }),
      expected: /^http.* answered 200 with what no proxy says: <html>welcome<\/html>; another program answers/,
    },
    {
      name: 'a gateway without its proxy',
      changes: async () => ({ url: await page(502) }),
      expected: /^http.* answered 502 with what no proxy says: <html>welcome/,
    },
    {
      name: 'the API',
      changes: () => ({ url: stage.url }),
      expected: /^path not found.*; that is an API and not its proxy/,
    },
    {
      name: 'no TLS',
      changes: () => ({ url: stage.proxyUrl.replace('http:', 'https:') }),
      expected: /^no answer came from https:.*; it speaks no TLS on that port/,
    },
    {
      name: 'nobody',
      changes: async () => {
        const url = await listen(() => undefined)
        await new Promise((done) => servers.pop()!.close(done))
        return { url }
      },
      expected: /^no answer came from http:.*: ECONNREFUSED; nothing listens there/,
    },
    {
      name: 'a redirect',
      changes: async () => ({
        url: await listen((_, response) => response.writeHead(301, { location: stage.proxyUrl }).end()),
      }),
      expected: /; browsers follow no redirect of a preflight/,
    },
  ])('proxy check: $name is said once, with what to do, and nothing else is tried', async ({ changes, expected }) => {
    const [first, ...others] = await walk(await changes())
    expect(first).toEqual(['configuration', 'bad', expect.stringMatching(expected)])
    expect(others).toEqual(UNKNOWN)
  })

  test.each([
    {
      name: 'answers no preflight',
      url: () => front({}, 405),
      expected: /^the preflight of a page is answered 405, not 2xx; let the reverse proxy/,
    },
    {
      name: 'does not know the header',
      url: () => front(cors, 204),
      expected: /^the preflight of a page does not allow the header x-auth-proxy-config-id; let the reverse proxy/,
    },
    {
      name: 'lets no page read',
      url: () => front({ 'access-control-allow-headers': '*' }, 204),
      expected:
        /^a page of https:\/\/app\.example\.com cannot read the answer: it is for no page; let the reverse proxy/,
    },
  ])('proxy check: a reverse proxy that $name breaks browsers alone', async ({ url, expected }) => {
    const findings = await walk({ url: await url() })
    expect(findings.filter(([, state]) => state === 'bad')).toEqual([
      ['browsers', 'bad', expect.stringMatching(expected)],
    ])
  })

  test('proxy check: keys of another service are named, and what was made is deleted', async () => {
    const findings = await walk({ keys: { tlsFetcherPublicKey: other, notarizerPublicKey: other } })
    const said = /the session token is not signed by the service; give `--service-keys`/
    expect(findings.slice(-3, -1)).toEqual([
      ['login', 'bad', expect.stringMatching(said)],
      ['clean-up', 'good', expect.stringMatching(/^deleted /)],
    ])
  })

  test('proxy check: a captcha is no fault', async () => {
    await stage.set({ captchaEnabled: true })
    expect((await walk({})).slice(-2)).toEqual([
      ['sign-up', 'not tried', 'it asks for a captcha, which only a person on a page solves'],
      ['code', 'not tried', 'no --email was given'],
    ])
    await stage.set({ captchaEnabled: false })
  })

  test('proxy login: what to do follows from the reason of a refusal, not from its words', async () => {
    const ask = async (configId = stage.configId) =>
      createLoginProxy({ url: stage.proxyUrl, configId })
        .initOtp({ otpType: 'OTP_TYPE_EMAIL', contact: 'ann@acme.test' })
        .catch((error: unknown) => (error instanceof QuorateError ? error.next : String(error)))
    expect(await ask('00000000-0000-4000-8000-000000000000')).toContain('give the id of its configuration')
    await stage.set({ captchaEnabled: true })
    expect(await ask()).toContain('only a person solves the captcha')
    await stage.set({ captchaEnabled: false })
  })

  test.each([
    ['no answer within 30 s', /something takes the connection and says nothing/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /browsers refuse that certificate too/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /browsers refuse that certificate too/],
    ['ENOTFOUND', /the name has no address/],
  ])('proxy check: %s is explained', (reason, next) => {
    const error = new ClientError('client/unreachable', 'x', { facts: { reason }, submitted: 'unknown' })
    expect(explainFault(error, 'https://auth.test')).toEqual({
      found: `no answer came from https://auth.test: ${reason}`,
      next: expect.stringMatching(next),
    })
  })
})
