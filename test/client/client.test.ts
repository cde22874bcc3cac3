import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createDeadline } from '../../src/cli/deadline.ts'
import {
  ClientError,
  type ClientOptions,
  clientCodes,
  createApiClock,
  createQueryClient,
  createRate,
  createRateWithin,
  createSubmitClient,
  type Timing,
} from '../../src/client/index.ts'
import { type Post, post } from '../../src/client/post.ts'

const organizationId = '00000000-0000-4000-8000-000000000001'
const publicKey = '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb'
const stamper = {
  publicKey,
  stamp: async (body: Uint8Array) => ({ name: 'X-Stamp' as const, value: `stamp-${body.length}` }),
}
const path = '/public/v1/submit/create_users'
const activity = {
  id: '0191c3a0-0000-7000-8000-000000000002',
  organizationId,
  status: 'ACTIVITY_STATUS_COMPLETED',
  type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
  fingerprint: `sha256:${'0'.repeat(64)}`,
}

interface Seen {
  readonly path: string
  readonly stamp: unknown
  readonly body: string
}
type Reply = (response: ServerResponse, request: IncomingMessage) => void

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A service that answers each request by the next of the replies, the last one for ever. */
async function serve(...replies: Reply[]): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    seen.push({ path: request.url ?? '', stamp: request.headers['x-stamp'], body: Buffer.concat(chunks).toString() })
    replies[Math.min(seen.length, replies.length) - 1]!(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const answers =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
const refuses = (
  status: number,
  code: number,
  message: string,
  turnkeyErrorCode = '',
  details: unknown[] = [],
): Reply => answers(status, { code, message, details, turnkeyErrorCode })

/** A clock that only waiting moves. */
function testTiming(now = Date.now()): Timing & { slept: number[] } {
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms)
      now += ms
    },
    random: () => 0.5,
  }
}

const options = (baseUrl: string, more: Partial<ClientOptions> = {}): ClientOptions => ({
  baseUrl,
  organizationId,
  stamper,
  timing: testTiming(),
  ...more,
})
const submit = (baseUrl: string, more: Partial<ClientOptions> = {}) =>
  createSubmitClient(options(baseUrl, more)).submit(path, '{"a":1}')
const faultOf = async (work: Promise<unknown>): Promise<ClientError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ClientError)
  return error as ClientError
}

describe('client: what is sent', () => {
  test('a query is its body with the organization filled in, stamped, to its path', async () => {
    const { baseUrl, seen } = await serve(answers(200, { userId: 'u' }))
    const answer = await createQueryClient(options(`${baseUrl}/`)).query('whoami', {})
    expect(answer).toEqual({ userId: 'u' })
    const body = JSON.stringify({ organizationId })
    expect(seen).toEqual([{ path: '/public/v1/query/whoami', stamp: `stamp-${body.length}`, body }])
  })

  test('a submit sends the bytes that it was given', async () => {
    const { baseUrl, seen } = await serve(answers(200, { activity }))
    const body = '{ "b" : 1,\t"a": "\\u0061é" }\n'
    expect(await createSubmitClient(options(baseUrl)).submit(path, body)).toEqual(activity)
    expect(seen.map((one) => one.body)).toEqual([body])
  })

  test('a query client has no way to submit', () => {
    expect(Object.keys(createQueryClient(options('http://127.0.0.1:1')))).not.toContain('submit')
  })

  test('it is stamped before its turn comes: what signs may take long, and a turn is for one moment', async () => {
    const { baseUrl } = await serve(answers(200, { userId: 'u' }))
    const order: string[] = []
    const rate = createRate()
    const signer: typeof stamper = {
      publicKey,
      stamp: (body) => {
        order.push('stamp')
        return stamper.stamp(body)
      },
    }
    const turns: Pick<typeof rate, 'take'> = {
      take: async (...given) => {
        const turn = await rate.take(...given)
        order.push('turn')
        return turn
      },
    }
    const client = createQueryClient(options(baseUrl, { stamper: signer, rate: turns }))
    await client.query('whoami', {})
    expect(order).toEqual(['stamp', 'turn'])
  })

  test('a redirect is not followed: the stamp is for nobody else', async () => {
    const { baseUrl, seen } = await serve(answers(307, '', { location: '/elsewhere' }))
    const fault = await faultOf(submit(baseUrl))
    expect([fault.code, fault.submitted]).toEqual(['client/unreachable', 'unknown'])
    expect(fault.message).toContain('it redirects to `/elsewhere`')
    expect(fault.next).toBe('correct the base URL: a request is stamped for the API that it names')
    expect(seen).toHaveLength(1)
  })
})

describe('client: what goes wrong', () => {
  const cases: { name: string; reply: Reply; code: keyof typeof clientCodes; submitted: string; says?: RegExp }[] = [
    {
      name: 'an unknown key names key and organization',
      reply: refuses(401, 16, 'could not find public key in organization', 'PUBLIC_KEY_NOT_FOUND'),
      code: 'client/unauthenticated',
      submitted: 'no',
      says: /`0264fb511728…e5eb` in organization `00000000-/,
    },
    {
      name: 'a denial keeps its details',
      reply: refuses(403, 7, "You don't have sufficient permissions", 'REQUEST_NOT_AUTHORIZED', [
        {
          '@type': 'x',
          message: 'No policies evaluated to outcome: Allow',
          policyEvaluations: [{ policyId: 'p1', outcome: 'OUTCOME_DENY_IMPLICIT' }],
        },
      ]),
      code: 'client/denied',
      submitted: 'no',
      says: /does not allow/,
    },
    {
      name: 'a rate limit',
      reply: refuses(429, 8, 'Too many requests.', ''),
      code: 'client/rate-limited',
      submitted: 'no',
      says: /Too many requests\. \(from here at most 20 requests a second for now, more again with time\)$/,
    },
    {
      name: 'a quota shares the gRPC code but does not pass',
      reply: refuses(429, 8, 'user has exceeded maximum long-lived api keys'),
      code: 'client/limit',
      submitted: 'no',
    },
    {
      name: 'an invalid request',
      reply: refuses(400, 3, 'policy label must be unique', 'REQUEST_INVALID'),
      code: 'client/invalid',
      submitted: 'no',
      says: /policy label must be unique/,
    },
    {
      name: 'another organization',
      reply: refuses(400, 3, 'organization mismatch: …', 'ORGANIZATION_MISMATCH'),
      code: 'client/wrong-organization',
      submitted: 'no',
    },
    { name: 'not found', reply: refuses(404, 5, 'No activity found'), code: 'client/not-found', submitted: 'no' },
    {
      name: 'the same body at the same moment',
      reply: refuses(409, 6, 'an activity with the same fingerprint already exists'),
      code: 'client/conflict',
      submitted: 'no',
    },
    {
      name: 'an operation that is not carried out',
      reply: refuses(501, 12, 'not executed'),
      code: 'client/not-supported',
      submitted: 'no',
    },
    {
      name: 'an internal error leaves the outcome open',
      reply: refuses(500, 13, 'internal server error', 'INTERNAL'),
      code: 'client/server-error',
      submitted: 'unknown',
    },
    {
      name: 'a gateway that answers HTML',
      reply: answers(502, '<html>bad gateway</html>'),
      code: 'client/server-error',
      submitted: 'unknown',
      says: /bad gateway/,
    },
    {
      name: 'a success that is no activity',
      reply: answers(200, '<html>hello</html>'),
      code: 'client/malformed-answer',
      submitted: 'unknown',
    },
    {
      name: 'a not-found page of another program',
      reply: answers(404, '<html>nginx</html>'),
      code: 'client/malformed-answer',
      submitted: 'no',
    },
    {
      name: 'an answer that is cut off',
      reply: (response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{')
        response.socket!.destroySoon()
      },
      code: 'client/unreachable',
      submitted: 'unknown',
    },
  ]
  test.each(cases)('$name: $code', async ({ reply, code, submitted, says }) => {
    const { baseUrl, seen } = await serve(reply)
    const fault = await faultOf(submit(baseUrl))
    expect({ code: fault.code, submitted: fault.submitted }).toEqual({ code, submitted })
    if (says) expect(fault.message).toMatch(says)
    expect(fault.next).toBeTruthy()
    // A submit is never sent twice from in here.
    expect(seen).toHaveLength(1)
  })

  test.each([
    { name: 'the detail for reasons', details: [{ reason: 'AUTH_PROXY_DISABLED' }], expected: 'AUTH_PROXY_DISABLED' },
    { name: 'the code of the API', code: 'OAUTH2_PROVIDER_NOT_CONFIGURED', expected: 'OAUTH2_PROVIDER_NOT_CONFIGURED' },
    { name: 'a published text', message: 'Invalid OTP code', code: 'REQUEST_INVALID', expected: 'INVALID_OTP_CODE' },
    { name: 'nothing', message: 'auth proxy is disabled', expected: undefined },
  ])(
    'a refusal is told to programs by $name',
    async ({ message = 'in any words', code = '', details = [], expected }) => {
      const typed = details.map((detail) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...detail }))
      const { baseUrl } = await serve(refuses(400, 3, message, code, typed))
      expect((await faultOf(submit(baseUrl))).refusal).toBe(expected)
    },
  )

  test('a denial shows what was evaluated', async () => {
    const { baseUrl } = await serve(cases[1]!.reply)
    const { facts } = await faultOf(submit(baseUrl))
    expect(facts.details).toBe('No policies evaluated to outcome: Allow; p1 OUTCOME_DENY_IMPLICIT')
    expect(facts['gRPC code']).toBe(7)
  })

  test('nobody listens: nothing was submitted', async () => {
    const { baseUrl } = await serve(answers(200, {}))
    await closers.pop()!()
    const fault = await faultOf(submit(baseUrl))
    expect(fault).toMatchObject({ code: 'client/unreachable', submitted: 'no', retryable: true })
    expect(fault.message).toContain('ECONNREFUSED')
  })

  const plain = answers(200, {})
  const standing: { name: string; reply: Reply; at?: (baseUrl: string) => string; next: RegExp }[] = [
    {
      name: 'a port that speaks no TLS',
      reply: plain,
      at: (url) => url.replace('http:', 'https:'),
      next: /may be `http:\/\/127/,
    },
    { name: 'a host that nobody knows', reply: plain, at: () => 'http://nobody.invalid', next: /no host is called/ },
    { name: 'a port that speaks no HTTP', reply: (response) => response.socket!.end('220 mail\r\n'), next: /no HTTP/ },
    { name: 'a redirect', reply: answers(307, '', { location: '/elsewhere' }), next: /correct the base URL/ },
    {
      name: 'a path that the API does not have',
      reply: (response, { url }) => refuses(404, 5, `path not found: ${url}`)(response, {} as IncomingMessage),
      at: (url) => `${url}/wallets`,
      next: /nothing answers under `\/wallets` there: the base URL may be `http:\/\/127\.0\.0\.1:\d+`/,
    },
  ]
  test.each(standing)('$name is told at once: the next try would meet it too', async ({ reply, at, next }) => {
    const { baseUrl } = await serve(reply)
    const timing = testTiming()
    const fault = await faultOf(createQueryClient(options(at?.(baseUrl) ?? baseUrl, { timing })).query('whoami', {}))
    expect(fault.next).toMatch(next)
    expect(timing.slept).toEqual([])
  })

  test('a connection that is closed may pass, and may be one that wants TLS', async () => {
    const { baseUrl } = await serve((response) => response.socket!.resetAndDestroy())
    const timing = testTiming()
    const fault = await faultOf(createQueryClient(options(baseUrl, { timing })).query('whoami', {}))
    expect(fault.next).toBe(
      `it closes the connection without an answer: where it speaks TLS, the base URL is \`${baseUrl.replace('http:', 'https:')}\``,
    )
    expect(timing.slept).toHaveLength(5)
  })

  test('no answer in time: the outcome is unknown', async () => {
    const { baseUrl } = await serve(() => {})
    const fault = await faultOf(submit(baseUrl, { attemptMs: 50 }))
    expect(fault).toMatchObject({ code: 'client/unreachable', submitted: 'unknown' })
    expect(fault.message).toContain('no answer within')
  })

  test('a caller that gives up is told so', async () => {
    const { baseUrl } = await serve(() => abort.abort())
    const abort = new AbortController()
    const sent = createSubmitClient(options(baseUrl)).submit(path, '{}', { signal: abort.signal })
    expect((await faultOf(sent)).code).toBe('client/cancelled')
  })

  test.each([
    { name: 'ahead', ahead: 3_700_000, says: "this machine's clock is 3700 seconds ahead of the API's" },
    { name: 'behind', ahead: -600_000, says: "this machine's clock is 600 seconds behind the API's" },
    { name: 'equal', ahead: 0, says: 'the clocks agree within a minute, so the request itself had grown old' },
  ])('a refused time says how far the clock is off: $name', async ({ ahead, says }) => {
    const now = Date.parse('2026-01-01T12:00:00Z')
    const body = {
      code: 3,
      message: 'request timestamp is outside the allowed window',
      details: [],
      turnkeyErrorCode: 'INVALID_TIME',
    }
    const { baseUrl } = await serve(answers(400, body, { date: new Date(now - ahead).toUTCString() }))
    const fault = await faultOf(submit(baseUrl, { timing: testTiming(now) }))
    expect(fault.code).toBe('client/clock-skew')
    expect(fault.message).toContain(says)
  })

  test('every code says how to solve it', () => {
    for (const [code, row] of Object.entries(clientCodes)) {
      expect(code).toMatch(/^client\/[a-z-]+$/)
      expect(row.solve.length).toBeGreaterThan(10)
    }
  })
})

describe('client: reads are tried again', () => {
  test('after a passing fault, with growing waits', async () => {
    const down = refuses(503, 14, 'unavailable')
    const timing = testTiming()
    const { baseUrl, seen } = await serve(down, down, answers(200, { activities: [] }))
    await createQueryClient(options(baseUrl, { timing })).query('list_activities', {})
    expect(seen).toHaveLength(3)
    expect(timing.slept).toEqual([375, 750])
  })

  test('a bounded number of times, then the fault', async () => {
    const { baseUrl, seen } = await serve(refuses(503, 14, 'unavailable'))
    const client = createQueryClient(options(baseUrl))
    expect((await faultOf(client.query('whoami', {}))).code).toBe('client/server-error')
    expect(seen).toHaveLength(6)
  })

  test('never after a fault that stays', async () => {
    const { baseUrl, seen } = await serve(refuses(401, 16, 'no', 'SIGNATURE_INVALID'))
    await faultOf(createQueryClient(options(baseUrl)).query('whoami', {}))
    expect(seen).toHaveLength(1)
  })

  test('not before the API said', async () => {
    const timing = testTiming()
    const busy = answers(429, { code: 8, message: '', details: [], turnkeyErrorCode: '' }, { 'retry-after': '7' })
    const { baseUrl } = await serve(busy, answers(200, {}))
    await createQueryClient(options(baseUrl, { timing })).query('whoami', {})
    expect(timing.slept).toEqual([7000])
  })
})

describe('client: a port of this machine at which nothing listens', () => {
  const asked = async (more: Partial<ClientOptions>) => {
    const { baseUrl } = await serve(answers(200, {}))
    await closers.pop()!()
    const timing = testTiming()
    const fault = await faultOf(createQueryClient(options(baseUrl, { timing, ...more })).query('whoami', {}))
    expect(fault.next).toContain('nothing listens at that port of this machine')
    return timing.slept.length
  }

  test('a command is told at once; what has no deadline tries again', async () => {
    expect(await asked({ deadline: createDeadline({}) })).toBe(0)
    expect(await asked({})).toBe(5)
  })
})

describe('client: the deadline of a command', () => {
  const busy = (retryAfter: string, status = 429) =>
    answers(
      status,
      { code: status === 429 ? 8 : 14, message: 'not now', details: [], turnkeyErrorCode: '' },
      { 'retry-after': retryAfter },
    )

  test('two minutes are waited, as the API asks, and no more', async () => {
    const timing = testTiming()
    const deadline = createDeadline({}, timing.now)
    const { baseUrl, seen } = await serve(busy('59'))
    const fault = await faultOf(createQueryClient(options(baseUrl, { timing, deadline })).query('whoami', {}))
    expect(fault).toMatchObject({ code: 'client/rate-limited', retryable: false, facts: { submitted: 'nothing' } })
    expect(fault.message).toContain('the next try would be in 59 s, and 2 s are left of the 120 s that the reads of a')
    expect(seen).toHaveLength(3)
    expect(timing.slept).toEqual([59_000, 59_000])
  })

  test('one read takes from the time of the next, of another client too; an answer in between gives none back', async () => {
    const timing = testTiming()
    const deadline = createDeadline({}, timing.now)
    const ok = answers(200, {})
    const { baseUrl } = await serve(busy('50', 503), ok, busy('50', 503), ok, busy('50', 503))
    const ask = () => createQueryClient(options(baseUrl, { timing, deadline })).query('whoami', {})
    await ask()
    await ask()
    expect((await faultOf(ask())).message).toContain('the next try would be in 50 s, and 20 s are left')
    expect(timing.slept).toEqual([50_000, 50_000])
  })

  test('a pause of a moment is pace, and not counted', async () => {
    const timing = testTiming()
    const deadline = createDeadline({ wait: '0' }, timing.now)
    const { baseUrl } = await serve(busy('1'), answers(200, {}))
    await createQueryClient(options(baseUrl, { timing, deadline })).query('whoami', {})
    expect(timing.slept).toEqual([1000])
  })

  test('a read that has its turn only after a pause is bounded too; a submit waits as before, and goes out once', async () => {
    const timing = testTiming()
    const deadline = createDeadline({ wait: '30s' }, timing.now)
    const rate = createRate({ timing })
    const { baseUrl, seen } = await serve(busy('40'), answers(200, { activity }))
    const client = createSubmitClient(options(baseUrl, { timing, deadline, rate }))
    await faultOf(client.submit(path, '{"a":1}'))
    const fault = await faultOf(client.query('whoami', {}))
    expect(fault).toMatchObject({ code: 'client/rate-limited', submitted: 'no' })
    expect(fault.facts.submitted).toMatch(/^1 request before this one/)
    expect(seen).toHaveLength(1)
    expect(timing.slept).toEqual([])
    await client.submit(path, '{"a":1}')
    expect(seen).toHaveLength(2)
    expect(timing.slept).toEqual([40_000])
  })

  test('reads that wait at the same time take from it once', async () => {
    const timing = testTiming()
    const deadline = createDeadline({}, timing.now)
    expect([deadline.allows(100_000), deadline.allows(90_000)]).toEqual([true, true])
    expect(deadline.leftMs()).toBe(20_000)
    expect(deadline.allows(121_000)).toBe(false)
  })

  test('what lasts for hours counts anew after ten quiet minutes', async () => {
    const timing = testTiming()
    const deadline = createDeadline({}, timing.now)
    expect(deadline.allows(100_000)).toBe(true)
    await timing.sleep(100_000)
    expect(deadline.allows(100_000)).toBe(false)
    await timing.sleep(601_000)
    expect(deadline.allows(100_000)).toBe(true)
  })
})

describe('client: the rate', () => {
  test('any window of a second holds no more than it may', async () => {
    const timing = testTiming(0)
    const sentAt: number[] = []
    const { baseUrl } = await serve(answers(200, {}))
    const sending: Post = async (...request) => {
      sentAt.push(timing.now())
      return post(...request)
    }
    const client = createQueryClient(
      options(baseUrl, { timing, post: sending, rate: createRate({ requestsPerSecond: 4, timing }) }),
    )
    for (let i = 0; i < 12; i++) await client.query('whoami', {})
    const most = Math.max(...sentAt.map((start) => sentAt.filter((at) => at >= start && at < start + 1000).length))
    expect(most).toBe(4)
  })
})

describe('client: what does not get ready', () => {
  const never = (_?: number) => new Promise<never>(() => {})

  test('a key that never signs is told in time, with what was not sent, and holds no request behind it', async () => {
    const { baseUrl, seen } = await serve(answers(200, { activity }))
    let stamps = 0
    const slow = { publicKey, stamp: (body: Uint8Array) => (stamps++ === 0 ? never() : stamper.stamp(body)) }
    const rate = createRateWithin(createRate(), createRate(), { isKnown: true })
    const client = createSubmitClient(options(baseUrl, { stamper: slow, rate, prepareMs: 50 }))
    const told: number[] = []
    const beforeSending = async () => void told.push(1)
    const [hung, next] = await Promise.allSettled([
      client.submit(path, '{"a":1}', { beforeSending }),
      client.submit(path, '{"a":2}'),
    ])
    expect(next.status).toBe('fulfilled')
    expect(hung).toMatchObject({ status: 'rejected', reason: { code: 'client/not-ready', submitted: 'no' } })
    expect((hung as PromiseRejectedResult).reason.message).toBe(
      `the key \`${publicKey}\` has signed nothing within 0.05 s; this request was not sent`,
    )
    expect(seen.map(({ body }) => body)).toEqual(['{"a":2}'])
    // Nobody has heard that it goes.
    expect(told).toEqual([])
  })

  test('so is a store that never answers; a read is not tried six times', async () => {
    const { baseUrl, seen } = await serve(answers(200, { activity }))
    const client = createSubmitClient(options(baseUrl, { prepareMs: 50 }))
    const fault = await faultOf(client.submit(path, '{"a":1}', { beforeSending: never }))
    expect(fault).toMatchObject({ code: 'client/not-ready', submitted: 'no', retryable: true })
    let stamps = 0
    const dead = { publicKey, stamp: () => never(stamps++) }
    const read = await faultOf(
      createQueryClient(options(baseUrl, { stamper: dead, prepareMs: 50 })).query('whoami', {}),
    )
    expect(read).toMatchObject({ code: 'client/not-ready', submitted: 'no' })
    expect([stamps, seen.length]).toEqual([1, 0])
  })
})

test('client: the clock of an API is this machine’s, but for what the `Date` of an answer leaves no room for', () => {
  const second = 1_750_000_000_000
  const aheadAfter = (date: number, askedAt: number, cameAt: number) => {
    const clock = createApiClock(() => 0)
    expect(clock.isTold()).toBe(false)
    clock.hears({ date, askedAt, cameAt })
    expect(clock.isTold()).toBe(true)
    return clock.now()
  }
  // Whole seconds, and a slow answer.
  expect(aheadAfter(second, second + 900, second + 950)).toBe(0)
  expect(aheadAfter(second, second - 5_000, second + 3_000)).toBe(0)
  // Ahead and behind.
  expect(aheadAfter(second + 60_000, second, second + 100)).toBe(59_900)
  expect(aheadAfter(second - 60_000, second, second + 100)).toBe(-59_001)
})
