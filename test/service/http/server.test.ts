import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activities, queries } from '../../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../../src/stamp/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { startTestService, type TestService } from '../harness.ts'

const lines: { message: string; fields: unknown }[] = []
const note = (message: string, fields?: unknown) => void lines.push({ message, fields })
let service: TestService
beforeAll(async () => {
  service = await startTestService({ logger: { debug: note, info: note, warn: note, error: note } })
})
afterAll(() => service.close())

const whoami = () => JSON.stringify({ organizationId: service.organizationId })

/** Sends bytes with exactly these headers and no others of a library's own choosing. */
async function bare(path: string, body: string, headers: Record<string, string>) {
  const sent = httpRequest(`${service.url}${path}`, { method: 'POST', headers })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, type: response.headers['content-type'], body: JSON.parse(text) }
}

async function stampOf(text: string): Promise<Record<string, string>> {
  const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
  const { name, value } = await stamper.stamp(Buffer.from(text))
  return { [name]: value }
}

describe('http', () => {
  test.each([
    { name: 'success', path: '/public/v1/query/whoami', text: whoami, status: 200 },
    { name: 'no JSON', path: '/public/v1/query/whoami', text: () => 'no', status: 400 },
    { name: 'an empty body', path: '/public/v1/query/whoami', text: () => '', status: 400 },
    { name: 'an unknown path', path: '/public/v1/query/nothing', text: whoami, status: 404 },
    { name: 'another place altogether', path: '/', text: whoami, status: 404 },
    { name: 'a path that is no path', path: '/%zz', text: whoami, status: 404 },
    {
      name: 'an unknown organization',
      path: '/public/v1/query/whoami',
      text: () => '{"organizationId":"00000000-0000-4000-8000-000000000001"}',
      status: 404,
    },
    {
      name: 'a body of more than 1 MiB',
      path: '/public/v1/query/whoami',
      text: () => JSON.stringify({ organizationId: 'x'.repeat(1_048_576) }),
      status: 413,
    },
  ])('http: $name is answered as exactly application/json', async ({ path, text, status }) => {
    const answer = await service.root.raw(path, text())
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json')
    if (status !== 200) {
      expect(Object.keys(answer.body)).toEqual(['code', 'message', 'details', 'turnkeyErrorCode'])
      expect(answer.body['details']).toBeInstanceOf(Array)
    }
  })

  test.each([{}, { 'content-type': 'text/html; charset=latin1' }, { 'content-type': 'nonsense' }])(
    'http: no content type is asked for: %j',
    async (headers) => {
      const answer = await bare('/public/v1/query/whoami', whoami(), { ...(await stampOf(whoami())), ...headers })
      expect([answer.status, answer.type]).toEqual([200, 'application/json'])
      expect(answer.body.userId).toBe(service.rootUserId)
    },
  )

  test.each([
    [
      'at the top',
      (id: string) => `{"organizationId":"00000000-0000-4000-8000-000000000001","organizationId":"${id}"}`,
    ],
    ['deep inside', (id: string) => `{"organizationId":"${id}","x":[{"a":{"b":1,"\\u0062":2}}]}`],
    ['__proto__', (id: string) => `{"organizationId":"${id}","__proto__":{}}`],
  ])('http: a member that appears twice is refused: %s', async (_name, body) => {
    const answer = await service.root.raw('/public/v1/query/whoami', body(service.organizationId))
    expect([answer.status, answer.body['code'], answer.body['turnkeyErrorCode']]).toEqual([400, 3, 'REQUEST_INVALID'])
  })

  test('http: every submit path and every query path of the catalogue has a route', async () => {
    const paths = [...Object.values(activities), ...Object.values(queries)].map(({ path }) => path)
    for (const path of new Set(paths)) {
      const answer = await service.root.raw(path, '{}')
      expect({ path, status: answer.status }).toEqual({ path, status: 400 })
    }
  })

  test('http: a type of another path, and a type that does not exist, are refused', async () => {
    const { text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'x', userIds: [] })
    const elsewhere = await service.root.raw('/public/v1/submit/create_users', text)
    expect([elsewhere.status, elsewhere.body['code']]).toEqual([400, 3])
    const nothing = await service.root.raw(
      '/public/v1/submit/create_user_tag',
      text.replace('CREATE_USER_TAG', 'CREATE_NOTHING'),
    )
    expect([nothing.status, nothing.body['code']]).toEqual([400, 3])
  })

  test('http: either spelling of a path is answered', async () => {
    const type = 'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER'
    for (const path of [activities[type].path, activities[type].path.replace('spark', 'layer2')]) {
      expect((await service.root.raw(path, '{}')).body['message']).toContain('missing field')
    }
  })

  test('http: browsers of any origin may send what clients send', async () => {
    const asked = ['content-type', 'x-client-version', 'x-stamp', 'x-stamp-webauthn', 'x-stamp-attested', 'x-session']
    const response = await fetch(`${service.url}/public/v1/query/whoami`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked.join(','),
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const allowed = response.headers.get('access-control-allow-headers')!.toLowerCase().split(/, ?/)
    expect(allowed).toEqual(expect.arrayContaining([...asked, 'x-auth-proxy-config-id', 'x-captcha-token']))
  })

  test('http: health and the API description are there for anybody', async () => {
    expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ status: 'ok' })
    const response = await fetch(`${service.url}/openapi.json`)
    expect(response.headers.get('content-type')).toBe('application/json')
    const document = (await response.json()) as { openapi: string; paths: Record<string, unknown> }
    expect(document.openapi).toMatch(/^3\./)
    expect(document.paths).toHaveProperty(['/public/v1/submit/create_users'])
  })

  test('http: the description is a page for people too, which runs nothing and leads nowhere else', async () => {
    const response = await fetch(`${service.url}/openapi.html`)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    const page = await response.text()
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: Record<string, unknown> }
    expect(Object.keys(paths).length).toBeGreaterThan(100)
    for (const path of Object.keys(paths)) expect(page).toContain(`<code>POST ${path}</code>`)
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const links = [...page.matchAll(/ href="([^"]*)"/g)].map(([, to]) => to!)
    expect(links.filter((to) => to !== 'openapi.json' && !(to.startsWith('#') && ids.has(to.slice(1))))).toEqual([])
    expect(page).not.toMatch(/<script| on\w+=|src=/)
  })

  test('http: what is no HTTP at all is answered in the same form', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.end('nonsense\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    const [head, body] = text.split('\r\n\r\n')
    expect(head).toContain('Content-Type: application/json\r\n')
    expect(JSON.parse(body!)).toMatchObject({ code: 3, turnkeyErrorCode: 'REQUEST_INVALID' })
  })

  test('http: the log says who asked what and how it went, never a body or a stamp', async () => {
    lines.length = 0
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'planted-name', userIds: [] })
    const stamp = await stampOf(whoami())
    await bare('/public/v1/query/whoami', whoami(), stamp)
    const said = lines.filter(({ message }) => message === 'request').map(({ fields }) => fields)
    expect(said).toMatchObject([
      { method: 'POST', route: '/public/v1/submit/create_user_tag', status: 200, requestId: expect.any(String) },
      { method: 'POST', route: '/public/v1/query/whoami', status: 200 },
    ])
    const text = JSON.stringify(lines)
    expect(text).not.toContain('planted-name')
    expect(text).not.toContain(Object.values(stamp)[0])
  })
})
