import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { createAuthProxy } from '../../../src/service/index.ts'
import { databaseOf } from '../../postgres.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { type HostileIssuers, startHostileIssuers } from '../oauth/hostile-issuer.ts'
import { newSignUp } from './stage.ts'

let issuers: HostileIssuers
let service: TestService
let database: Awaited<ReturnType<typeof databaseOf>>
let proxy: Awaited<ReturnType<typeof createAuthProxy>>
beforeAll(async () => {
  issuers = await startHostileIssuers()
  service = await startTestService({ privateIssuers: [issuers.url] })
  await complete(service.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  database = await databaseOf(service.dataDir)
  proxy = await createAuthProxy({ dataDir: service.dataDir, database, baseUrl: service.url })
})
afterAll(async () => {
  await proxy.close()
  await service.close()
  await issuers.close()
})

async function post(endpoint: string, body: object, url = proxy.url) {
  const headers = { 'x-auth-proxy-config-id': service.service.bootstrap.authProxyConfigId }
  const answer = await fetch(`${url}/v1/${endpoint}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('proxy apart', () => {
  test('proxy apart: it signs up over HTTP, and passes on what the service refuses', async () => {
    const request = newSignUp()
    const { status, body } = await post('signup_v2', request)
    expect([status, body]).toEqual([200, { organizationId: expect.any(String), userId: expect.any(String) }])
    const publicKey = request.apiKeys[0]!.publicKey
    expect(await post('account', { filterType: 'PUBLIC_KEY', filterValue: publicKey })).toEqual({
      status: 200,
      body: { organizationId: body['organizationId'] },
    })
    expect(await post('signup_v2', newSignUp({ apiKeys: [] }))).toMatchObject({ status: 400, body: { code: 3 } })
  })

  test('proxy apart: what is set and disabled holds from the next request on', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', { sessionExpirationSeconds: 77 })
    expect((await post('wallet_kit_config', {})).body['sessionExpirationSeconds']).toBe('77')
    await complete(service.root, 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY', {})
    expect((await post('wallet_kit_config', {})).body['message']).toBe('auth proxy is disabled')
    await complete(service.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  })

  test('proxy apart: which issuers prove an address is what it is told, exactly', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', { allowedAuthMethods: ['oauth'] })
    const signUp = async (url: string, email: string) => {
      const oidcToken = await issuers.sign({ sub: email, email, email_verified: true })
      const oauthProviders = [{ providerName: 'issuer', oidcToken }]
      return post('signup_v2', newSignUp({ userEmail: email, oauthProviders, organizationName: email }), url)
    }
    const told = [
      { settings: {}, status: 400 },
      { settings: { vouchingIssuers: [issuers.url] }, status: 400 },
      { settings: { vouchingIssuers: [`${issuers.url}/other`] }, status: 400 },
      { settings: { vouchingIssuers: [`${issuers.url}/honest`] }, status: 200 },
      { settings: { privateIssuers: [issuers.url] }, status: 200 },
      { settings: { providerUrls: { google: `${issuers.url}/honest` } }, status: 403 },
    ]
    for (const [index, { settings, status }] of told.entries()) {
      const other = await createAuthProxy({ dataDir: service.dataDir, database, baseUrl: service.url, ...settings })
      const answer = await signUp(other.url, `u${index}@acme.test`)
      expect([settings, answer.status]).toEqual([settings, status])
      await other.close()
    }
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', { allowedAuthMethods: [] })
  })

  test('proxy apart: a session that has ended at the service has ended here too', async () => {
    const first = generateP256KeyPair()
    const apiKeys = [{ apiKeyName: 'k', publicKey: first.publicKey, curveType: 'API_KEY_CURVE_P256' }]
    const { organizationId = '' } = (await post('signup_v2', newSignUp({ apiKeys }))).body as Record<string, string>
    const owner = service.client(first.privateKey)
    const session = generateP256KeyPair()
    await complete(owner, 'ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: session.publicKey }, organizationId)
    const found = async () =>
      (await post('account', { filterType: 'PUBLIC_KEY', filterValue: session.publicKey })).body['organizationId']
    const works = async () =>
      (await service.client(session.privateKey).raw('/public/v1/query/whoami', JSON.stringify({ organizationId })))
        .status
    expect([await found(), await works()]).toEqual([organizationId, 200])
    const login = { publicKey: generateP256KeyPair().publicKey, invalidateExisting: true }
    await complete(owner, 'ACTIVITY_TYPE_STAMP_LOGIN', login, organizationId)
    expect([await found(), await works()]).toEqual([undefined, 401])
  })

  test('proxy apart: its connections and requests are counted', async () => {
    const counted = await createAuthProxy({ dataDir: service.dataDir, database, baseUrl: service.url, metricsPort: 0 })
    expect((await post('wallet_kit_config', {}, counted.url)).status).toBe(200)
    const text = await (await fetch(counted.metricsUrl!)).text()
    expect(text).toMatch(/^quorate_connections\{server="auth-proxy"\} [1-9]/m)
    expect(text).toContain('quorate_requests_total{route="v1/wallet_kit_config",status="200",reason=""} 1')
    await counted.close()
  })

  test('proxy apart: a service that is away is unavailable, and it can start again beside its proxy', async () => {
    await service.service.close()
    expect(await post('signup_v2', newSignUp())).toMatchObject({ status: 503, body: { code: 14 } })
    await service.restart()
    expect((await post('wallet_kit_config', {})).status).toBe(200)
  })

  test('proxy apart: a folder that no service has kept is refused', async () => {
    const starting = createAuthProxy({ dataDir: `${service.dataDir}/nothing`, baseUrl: service.url })
    await expect(starting).rejects.toMatchObject({ code: 'service/nothing-served' })
  })
})
