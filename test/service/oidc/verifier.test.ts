import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDocumentFetch } from '../../../src/service/oidc/fetch-document.ts'
import { createOidcVerifier } from '../../../src/service/oidc/verifier.ts'
import { silentLogger } from '../../../src/telemetry/index.ts'
import { createTestClock } from '../harness.ts'
import { startIssuer, type TestIssuer } from './issuer.ts'

let issuer: TestIssuer
beforeAll(async () => {
  issuer = await startIssuer('ES256')
})
afterAll(() => issuer.close())

describe('OIDC verifier', () => {
  test('OIDC verifier: keys are fetched once, again for a key that is new, and no more often than it may', async () => {
    const clock = createTestClock(Date.now())
    const fetchDocument = createDocumentFetch({ privateOrigins: [issuer.url] })
    const verifier = createOidcVerifier({ fetchDocument, clock, logger: silentLogger })
    const before = issuer.fetches()
    const fetches = () => issuer.fetches() - before
    const identity = {
      ...{ issuer: issuer.url, audience: 'client', audiences: ['client'], subject: 'subject' },
      expiresAt: expect.any(Number),
    }
    expect(await verifier.verify(await issuer.token())).toEqual(identity)
    expect(await verifier.verify(await issuer.token({ nonce: 'n' }))).toEqual({ ...identity, nonce: 'n' })
    expect(fetches()).toBe(1)
    const kid = await issuer.addKey()
    const token = await issuer.token({ tknonce: 't' }, { kid })
    expect([await verifier.verify(token), fetches()]).toEqual([undefined, 1])
    clock.advance(10_001)
    expect([await verifier.verify(token), fetches()]).toEqual([{ ...identity, nonce: 't' }, 2])
    clock.advance(600_001)
    expect([await verifier.verify(await issuer.token({}, { kid })), fetches()]).toEqual([identity, 3])
  })

  test('OIDC verifier: keys stay good for an hour while their issuer gives no newer ones, and no longer', async () => {
    const clock = createTestClock(Date.now())
    const fetched = createDocumentFetch({ privateOrigins: [issuer.url] })
    let isAway = false
    const fetchDocument = (url: string) => (isAway ? Promise.reject(new Error('away')) : fetched(url))
    const verifier = createOidcVerifier({ fetchDocument, clock, logger: silentLogger })
    const good = await issuer.token({ exp: Math.floor(clock() / 1000) + 7_200 })
    const isGood = async () => (await verifier.verify(good)) !== undefined
    expect(await isGood()).toBe(true)
    isAway = true
    clock.advance(10_001)
    const kid = await issuer.addKey()
    expect(await verifier.verify(await issuer.token({}, { kid }))).toBeUndefined()
    // A token of a key that nobody has published made the service ask, in vain: all others go on.
    expect(await isGood()).toBe(true)
    clock.advance(3_580_000)
    expect(await isGood()).toBe(true)
    clock.advance(20_000)
    expect(await isGood()).toBe(false)
    isAway = false
    clock.advance(10_001)
    expect(await isGood()).toBe(true)
  })
})

describe('documents of strangers', () => {
  const free = createDocumentFetch({ privateOrigins: [] })
  test.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.1.2.3/',
    'https://localhost/',
    'https://2130706433/',
    'file:///etc/passwd',
  ])('documents of strangers: %s is not asked', async (url) => {
    await expect(free(url)).rejects.toThrow(/public|https/)
  })

  test.each<{ name: string; answer: RequestListener }>([
    { name: 'a redirect', answer: (_, response) => response.writeHead(302, { location: '/other' }).end() },
    { name: 'an error', answer: (_, response) => response.writeHead(500).end('{}') },
    { name: 'too many bytes', answer: (_, response) => response.end(`"${'x'.repeat(300_000)}"`) },
    { name: 'no JSON', answer: (_, response) => response.end('<html>') },
    { name: 'nothing for ever', answer: () => {} },
    { name: 'the beginning and then nothing', answer: (_, response) => response.write('{') },
  ])('documents of strangers: $name is no document', async ({ answer }) => {
    const server = createServer(answer)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await expect(createDocumentFetch({ privateOrigins: [origin], timeoutMs: 200 })(`${origin}/`)).rejects.toThrow()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
})
