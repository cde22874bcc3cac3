import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthProxy } from '../../../src/service/index.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { newSignUp } from './stage.ts'

let service: TestService
let proxy: Awaited<ReturnType<typeof createAuthProxy>>
beforeAll(async () => {
  service = await startTestService()
  await complete(service.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  proxy = await createAuthProxy({ dataDir: service.dataDir, baseUrl: service.url })
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

async function post(endpoint: string, body: object) {
  const headers = { 'x-auth-proxy-config-id': service.service.bootstrap.authProxyConfigId }
  const answer = await fetch(`${proxy.url}/v1/${endpoint}`, { method: 'POST', headers, body: JSON.stringify(body) })
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
