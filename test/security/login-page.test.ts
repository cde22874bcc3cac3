/**
 * The page that `quorate login` opens on this machine, as any page of the browser and any program of the machine can reach it:
 * what they send ends no login, changes none, and gets nothing.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomBytes } from '../../src/crypto/index.ts'
import { proveByOidc } from '../../src/session/by-oidc.ts'
import { askPasskey } from '../../src/session/passkey-page.ts'
import { startProvider, type TestProvider } from '../service/oauth/provider.ts'

/** What came back of bytes that are sent as they are; with `leaves` the connection breaks off after them. */
async function send(page: URL, text: string, { leaves = false } = {}): Promise<string> {
  const socket = connect(Number(page.port), '127.0.0.1')
  let read = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    read += part
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  if (leaves) setTimeout(() => socket.destroy(), 50)
  await once(socket, 'close')
  return read.split('\r\n', 1)[0]!
}

/** A request that the server is told to end the connection after. */
const asked = (line: string, headers: readonly string[] = [], body = '') =>
  [`${line} HTTP/1.1`, 'Connection: close', ...headers, '', body].join('\r\n')

interface Attack {
  readonly name: string
  readonly text: (page: URL) => string
  readonly leaves?: boolean
  readonly answer: string
}

const NOT_FOUND = 'HTTP/1.1 404 Not Found'
const MISDIRECTED = 'HTTP/1.1 421 Misdirected Request'
const post = (page: URL, headers: readonly string[], body: string) =>
  asked(`POST ${page.pathname}`, [`Content-Length: ${Buffer.byteLength(body)}`, ...headers], body)

const onAnyPage: readonly Attack[] = [
  {
    name: 'a name of its own that leads here (DNS rebinding)',
    text: ({ pathname, port }) => asked(`GET ${pathname}`, [`Host: evil.example:${port}`]),
    answer: MISDIRECTED,
  },
  { name: 'no host', text: ({ pathname }) => asked(`GET ${pathname}`), answer: 'HTTP/1.1 400 Bad Request' },
  {
    name: 'another port',
    text: ({ pathname, hostname }) => asked(`GET ${pathname}`, [`Host: ${hostname}:1`]),
    answer: NOT_FOUND,
  },
  {
    name: 'the address of another host in the first line',
    text: ({ pathname, host }) => asked(`GET http://evil.example${pathname}`, [`Host: ${host}`]),
    answer: NOT_FOUND,
  },
  { name: 'an address that is none', text: ({ host }) => asked('GET //[', [`Host: ${host}`]), answer: NOT_FOUND },
  { name: 'another path', text: ({ host }) => asked('GET /favicon.ico', [`Host: ${host}`]), answer: NOT_FOUND },
  {
    name: 'a form of another origin',
    text: (page) => post(page, [`Host: ${page.host}`, 'Origin: https://evil.example'], '{}'),
    answer: NOT_FOUND,
  },
  {
    name: 'a frame without an origin',
    text: (page) => post(page, [`Host: ${page.host}`, 'Origin: null'], '{}'),
    answer: NOT_FOUND,
  },
  { name: 'a program without an origin', text: (page) => post(page, [`Host: ${page.host}`], '{}'), answer: NOT_FOUND },
  {
    name: 'who leaves in the middle of a body',
    text: ({ pathname, host, origin }) =>
      asked(`POST ${pathname}`, [`Host: ${host}`, `Origin: ${origin}`, 'Content-Length: 100'], '{'),
    leaves: true,
    answer: '',
  },
  {
    name: 'who leaves in the middle of a body for nowhere',
    text: () => asked('POST /', ['Host: evil.example', 'Content-Length: 100'], '{'),
    leaves: true,
    answer: MISDIRECTED,
  },
  {
    name: 'no HTTP at all',
    text: () => '\u0016\u0003\u0001 hello\r\n\r\n',
    answer: 'HTTP/1.1 400 Bad Request',
  },
]

describe('login page: of a passkey', () => {
  test('login page: of a passkey: what others send is refused, and the login goes on', async () => {
    const shown = Promise.withResolvers<URL>()
    const asking = askPasskey(
      { title: 't', about: ['</script><script>alert(1)</script>'], button: 'b', method: 'get', publicKey: {} },
      { randomBytes, show: (url) => shown.resolve(new URL(url)) },
    )
    const page = await shown.promise
    const attacks: readonly Attack[] = [
      ...onAnyPage,
      {
        name: 'an answer that is no JSON',
        text: (url) => post(url, [`Host: ${url.host}`, `Origin: ${url.origin}`], 'x'),
        answer: 'HTTP/1.1 400 Bad Request',
      },
      {
        name: 'an answer that is no credential',
        text: (url) => post(url, [`Host: ${url.host}`, `Origin: ${url.origin}`], '{"a":{"b":1}}'),
        answer: 'HTTP/1.1 400 Bad Request',
      },
      {
        name: 'more than an answer',
        text: (url) => post(url, [`Host: ${url.host}`, `Origin: ${url.origin}`], `"${'x'.repeat(70_000)}"`),
        answer: NOT_FOUND,
      },
    ]
    for (const { name, text, leaves, answer } of attacks)
      expect([name, await send(page, text(page), { leaves: leaves ?? false })]).toEqual([name, answer])
    const answer = await fetch(page)
    expect(answer.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'.*form-action 'none'/)
    expect(await answer.text()).not.toContain('<script>alert')
    const taken = await fetch(page, { method: 'POST', headers: { origin: page.origin }, body: '{"credentialId":"x"}' })
    expect(taken.status).toBe(204)
    expect(await asking).toEqual({ credentialId: 'x' })
    await expect(fetch(page)).rejects.toThrow()
  })
})

describe('login page: of a provider', () => {
  let provider: TestProvider
  beforeAll(async () => {
    provider = await startProvider()
  })
  afterAll(() => provider.close())

  const begin = async () => {
    const shown = Promise.withResolvers<string>()
    const proving = proveByOidc({ issuer: provider.url, clientId: 'program', randomBytes, show: shown.resolve })
    // A test that awaits `proving` gets its rejection; one that does not leaves none unhandled.
    proving.catch(() => {})
    const at = await shown.promise
    return { proving, at, page: new URL(new URL(at).searchParams.get('redirect_uri')!) }
  }

  test('login page: of a provider: what did not come of this login neither ends it nor is taken, and it is taken once', async () => {
    const [first, other] = [await begin(), await begin()]
    const theirs = await provider.browse(other.at, 'mallory')
    const back = (page: URL, query: string) => asked(`GET ${page.pathname}?${query}`, [`Host: ${page.host}`])
    const attacks: readonly Attack[] = [
      ...onAnyPage,
      { name: 'an error without a state', text: (page) => back(page, 'error=access_denied'), answer: NOT_FOUND },
      { name: 'a code without a state', text: (page) => back(page, 'code=x'), answer: NOT_FOUND },
      { name: 'a state that is empty', text: (page) => back(page, 'code=x&state='), answer: NOT_FOUND },
      { name: 'a state of nobody', text: (page) => back(page, `code=x&state=${'A'.repeat(43)}`), answer: NOT_FOUND },
      {
        name: 'what another login brought (login CSRF)',
        text: (page) => back(page, theirs.searchParams.toString()),
        answer: NOT_FOUND,
      },
    ]
    for (const { name, text, leaves, answer } of attacks)
      expect([name, await send(first.page, text(first.page), { leaves: leaves ?? false })]).toEqual([name, answer])
    const ours = await provider.browse(first.at, 'frank')
    expect((await fetch(ours)).status).toBe(200)
    expect((await first.proving).stamper.publicKey).toMatch(/^0[23]/)
    await expect(fetch(ours)).rejects.toThrow()
    expect((await fetch(theirs)).status).toBe(200)
    await other.proving
  })

  test('login page: of a provider: with its own state and a code of another login nobody is logged in', async () => {
    const [first, other] = [await begin(), await begin()]
    const theirs = await provider.browse(other.at, 'mallory')
    const mixed = new URL(first.page)
    mixed.search = new URLSearchParams({
      ...Object.fromEntries(theirs.searchParams),
      state: new URL(first.at).searchParams.get('state')!,
    }).toString()
    expect((await fetch(mixed)).status).toBe(200)
    await expect(first.proving).rejects.toThrow('did not log in')
    await fetch(theirs)
    await other.proving.catch(() => {})
  })
})
