/** What strangers can cost the service before anything is known of them, and what they are told. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { EdgeLimits } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { isApiRefusal, open, type RawConnection, readAnswers } from './raw.ts'

const WHOAMI = '/public/v1/query/whoami'

async function start(limits: Partial<EdgeLimits> = {}, more = {}): Promise<TestService> {
  const service = await startTestService({ limits, ...more })
  onTestFinished(() => service.close())
  return service
}

async function connectTo(service: TestService, localAddress?: string): Promise<RawConnection> {
  const connection = await open(service.url, localAddress)
  onTestFinished(() => void connection.socket.destroy())
  return connection
}

const post = (body: string, more: readonly string[] = []) =>
  [`POST ${WHOAMI} HTTP/1.1`, 'Host: x', `Content-Length: ${body.length}`, ...more, '', body].join('\r\n')

describe('edge: connections', () => {
  test('edge: those of one source are bounded, and another source is still answered', async () => {
    const service = await start({ connectionsPerSource: 10 })
    for (let i = 0; i < 10; i++) await connectTo(service)
    const refused = await connectTo(service)
    refused.write(post('{}'))
    const [answer] = await refused.answers(1)
    expect([answer!.status, isApiRefusal(answer!)]).toEqual([429, true])
    const other = await connectTo(service, '127.0.0.2')
    other.write(post('{}'))
    expect((await other.answers(1))[0]!.status).toBe(401)
  })

  test('edge: those of all sources are bounded, and room comes back when they go', async () => {
    const service = await start({ connections: 10 })
    const held = await Promise.all(Array.from({ length: 10 }, (_, i) => connectTo(service, `127.0.0.${1 + i}`)))
    const refused = await connectTo(service, '127.0.0.99')
    const [answer] = readAnswers(await refused.ended)
    expect([answer!.status, isApiRefusal(answer!)]).toEqual([503, true])
    for (const { socket } of held) socket.destroy()
    for (;;) {
      const next = await connectTo(service)
      next.write(post('{}', ['Connection: close']))
      const [again] = readAnswers(await next.ended)
      if (again?.status === 401) break
    }
  })

  test('edge: a trusted proxy may have as many as there are', async () => {
    const service = await start({ connectionsPerSource: 2 }, { trustedProxies: ['127.0.0.0/30'] })
    for (let i = 0; i < 5; i++) await connectTo(service)
    const sixth = await connectTo(service)
    sixth.write(post('{}'))
    expect((await sixth.answers(1))[0]!.status).toBe(401)
  })

  test.each([
    ['says nothing', ''],
    ['never ends its head', `POST ${WHOAMI} HTTP/1.1\r\nHost: x\r\nX-A: `],
  ])('edge: one that %s is told so and closed', async (_name, text) => {
    const service = await start({ headMs: 300 })
    const connection = await connectTo(service)
    connection.write(text)
    const [answer] = readAnswers(await connection.ended)
    expect([answer!.status, isApiRefusal(answer!)]).toEqual([408, true])
  })
})

describe('edge: bodies', () => {
  test('edge: a body that comes too slowly is refused, and its connection closed', async () => {
    const service = await start({ patienceMs: 300, bytesPerSecond: 1_000 })
    const connection = await connectTo(service)
    connection.write(post('').replace('Content-Length: 0', 'Content-Length: 100000'))
    const dripping = setInterval(() => connection.write('x'), 20)
    onTestFinished(() => clearInterval(dripping))
    const [answer] = readAnswers(await connection.ended)
    expect([answer!.status, isApiRefusal(answer!)]).toEqual([408, true])
  })

  test('edge: one that is announced as too large is refused before it comes, one that is not as soon as it is', async () => {
    const service = await start()
    const announced = await connectTo(service)
    announced.write(post('').replace('Content-Length: 0', 'Content-Length: 1048577'))
    const chunked = await connectTo(service)
    chunked.write(`POST ${WHOAMI} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
    for (let i = 0; i < 17; i++) chunked.write(`10000\r\n${'x'.repeat(65_536)}\r\n`)
    for (const connection of [announced, chunked]) {
      const [answer] = await connection.answers(1)
      expect([answer!.status, isApiRefusal(answer!)]).toEqual([413, true])
    }
  })

  test('edge: what all of them hold is bounded, one source has half of it, and the others are answered', async () => {
    const service = await start({ heldBytes: 4_194_304 })
    const most = 'x'.repeat(1_000_000)
    const half = post(most).slice(0, -1)
    const mine = await Promise.all(Array.from({ length: 6 }, () => connectTo(service)))
    for (const connection of mine) connection.write(half)
    const answers = await Promise.race(mine.map((connection) => connection.answers(1)))
    expect([answers[0]!.status, isApiRefusal(answers[0]!)]).toEqual([429, true])
    const other = await connectTo(service, '127.0.0.2')
    other.write(post('{}'))
    expect((await other.answers(1))[0]!.status).toBe(401)
    const theirs = await Promise.all(Array.from({ length: 6 }, (_, i) => connectTo(service, `127.0.0.${10 + i}`)))
    for (const connection of theirs) connection.write(half)
    const [full] = await Promise.race(theirs.map((connection) => connection.answers(1)))
    expect([full!.status, isApiRefusal(full!)]).toEqual([503, true])
    for (const { socket } of [...mine, ...theirs]) socket.destroy()
    await expectRoom(service)
  })

  test('edge: a body of single bytes costs what it takes to hold them, not their number', async () => {
    const service = await start({ heldBytes: 4_194_304 })
    const connection = await connectTo(service)
    connection.write(`POST ${WHOAMI} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
    connection.write('1\r\nx\r\n'.repeat(50_000))
    const [answer] = await connection.answers(1)
    expect([answer!.status, isApiRefusal(answer!)]).toEqual([429, true])
  })

  test('edge: answers that nobody reads count as well, and their connection is ended', async () => {
    const service = await start(
      { heldBytes: 33_554_432, patienceMs: 500, bytesPerSecond: 1_000_000 },
      { metricsPort: 0 },
    )
    const connection = await connectTo(service)
    connection.socket.pause()
    connection.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100))
    const open = async () =>
      /^quorate_connections\{server="api"\} (\d+)$/m.exec(await (await fetch(service.service.metricsUrl!)).text())![1]
    await expect.poll(open).toBe('0')
    connection.socket.resume()
    const answers = readAnswers(await connection.ended)
    expect(answers.length).toBeLessThan(100)
    await expectRoom(service)
  })
})

async function expectRoom(service: TestService): Promise<void> {
  for (;;) {
    const answer = await service.root.raw(WHOAMI, JSON.stringify({ organizationId: service.organizationId }))
    if (answer.status === 200) return
    expect([429, 503]).toContain(answer.status)
  }
}

describe('edge: heads', () => {
  const rest = 'Host: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}'
  const head = (lines: readonly string[], body = '{}') =>
    `POST ${WHOAMI} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
  test.each<[name: string, text: string, status: number]>([
    ...['GET', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND', 'PURGE', 'LINK', 'SEARCH', 'M-SEARCH'].map(
      (method): [string, string, number] => [
        `${method} of an endpoint`,
        `${method} ${WHOAMI} HTTP/1.1\r\n${rest}`,
        405,
      ],
    ),
    ['QUERY of no path', `QUERY /nothing HTTP/1.1\r\n${rest}`, 404],
    ['TRACE of no path', `TRACE /nothing HTTP/1.1\r\n${rest}`, 404],
    ['POST to what is read', `POST /healthz HTTP/1.1\r\n${rest}`, 405],
    ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${rest}`, 405],
    ['a method that nobody knows', `ROB ${WHOAMI} HTTP/1.1\r\n${rest}`, 400],
    ['no host', head(['Content-Length: 2']), 400],
    ['two hosts', head(['Host: a', 'Host: b', 'Content-Length: 2']), 400],
    ['an expectation', head(['Host: x', 'Expect: magic', 'Content-Length: 2']), 417],
    ['a length and chunks', head(['Host: x', 'Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'), 400],
    ['two lengths', head(['Host: x', 'Content-Length: 2', 'Content-Length: 3']), 400],
    ['twice the same length', head(['Host: x', 'Content-Length: 2', 'Content-Length: 2']), 400],
    ['a length that is none', head(['Host: x', 'Content-Length: 2x']), 400],
    ['a negative length', head(['Host: x', 'Content-Length: -2']), 400],
    [
      'another coding before chunks',
      head(['Host: x', 'Transfer-Encoding: gzip, chunked'], '2\r\n{}\r\n0\r\n\r\n'),
      400,
    ],
    ['chunks that are not last', head(['Host: x', 'Transfer-Encoding: chunked, identity'], '0\r\n\r\n'), 400],
    ['a chunk of no size', head(['Host: x', 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'), 400],
    ['a folded header', head(['Host: x', 'X-Stamp: a', ' b', 'Content-Length: 2']), 400],
    ['line feeds alone', `POST ${WHOAMI} HTTP/1.1\nHost: x\nContent-Length: 2\n\n{}`, 400],
    ['a blank before the colon', head(['Host : x', 'Content-Length: 2']), 400],
    ['a NUL in a header', head(['Host: x', 'X-Stamp: a\0b', 'Content-Length: 2']), 400],
    ['a NUL in the path', `POST /a\0b HTTP/1.1\r\n${rest}`, 400],
    ['an encoded NUL in the path', `POST /a%00b HTTP/1.1\r\n${rest}`, 404],
    ['a bad escape in the path', `POST /%zz HTTP/1.1\r\n${rest}`, 404],
    ['a path of bytes that are no text', `POST /\xff\xfe HTTP/1.1\r\n${rest}`, 400],
    ['a path that climbs', `POST /../../etc/passwd HTTP/1.1\r\n${rest}`, 404],
    ['an absolute target', `POST http://evil.test${WHOAMI} HTTP/1.1\r\n${rest}`, 404],
    ['a long path', `POST /${'a'.repeat(8_000)} HTTP/1.1\r\n${rest}`, 404],
    ['a long header', head(['Host: x', `X-A: ${'a'.repeat(20_000)}`, 'Content-Length: 2']), 431],
    ['many headers', head(['Host: x', ...Array.from({ length: 3_000 }, (_, i) => `X-${i}: a`)]), 431],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP of another version', `POST ${WHOAMI} HTTP/3.0\r\n${rest}`, 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(200, 'a'), 400],
  ])('edge: %s is refused cleanly', async (_name, text, status) => {
    const service = await shared()
    const connection = await connectTo(service)
    connection.write(text)
    const [answer] = await connection.answers(1)
    expect([answer!.status, answer!.headers['content-type'], isApiRefusal(answer!)]).toEqual([
      status,
      'application/json',
      true,
    ])
    if (status === 405 && !text.startsWith('CONNECT')) expect(answer!.headers['allow']).toMatch(/^(GET|POST), OPTIONS$/)
  })

  test('edge: a stamp that comes twice is none', async () => {
    const service = await shared()
    const connection = await connectTo(service)
    const body = JSON.stringify({ organizationId: service.organizationId })
    connection.write(post(body, ['X-Stamp: e30', 'X-Stamp: e30']))
    const [answer] = await connection.answers(1)
    expect([answer!.status, isApiRefusal(answer!)]).toEqual([400, true])
  })

  test('edge: many requests in one piece are answered in their order', async () => {
    const service = await shared()
    const connection = await connectTo(service)
    const kinds = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? 404 : i % 3 === 1 ? 401 : 200))
    const texts = {
      404: post('{}').replace(WHOAMI, '/nothing'),
      401: post('{}'),
      200: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    }
    connection.write(kinds.map((kind) => texts[kind as 200]).join(''))
    expect((await connection.answers(kinds.length)).map(({ status }) => status)).toEqual(kinds)
  })

  test('edge: a refusal is never the answer of a request that came before it', async () => {
    const asked = Promise.withResolvers<void>()
    const resolved = Promise.withResolvers<readonly string[]>()
    const resolveHost = () => {
      asked.resolve()
      return resolved.promise
    }
    const service = await start({}, { resolveHost })
    const connection = await connectTo(service)
    connection.write(await stamped(service))
    await asked.promise
    connection.write('nonsense\r\n\r\n')
    expect(await connection.ended).toBe('')
    resolved.resolve(['1.1.1.1'])
  })
})

/** A request that takes as long as a name is looked up. */
async function stamped(service: TestService): Promise<string> {
  const { path, text } = service.body('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url: 'https://slow.test/', name: 'w' })
  const stamp = await createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) }).stamp(Buffer.from(text))
  return post(text, [`${stamp.name}: ${stamp.value}`]).replace(WHOAMI, path)
}

let common: Promise<TestService> | undefined
afterAll(async () => (await common)?.close())
function shared(): Promise<TestService> {
  common ??= startTestService()
  return common
}
