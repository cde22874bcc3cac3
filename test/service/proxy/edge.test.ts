import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxyEndpoints } from '../../../src/protocol/index.ts'
import { askOperator } from '../../../src/service/index.ts'
import { complete } from '../handlers/steps.ts'
import { newSignUp, type ProxyStage, said, startProxyStage } from './stage.ts'

let stage: ProxyStage
beforeAll(async () => {
  stage = await startProxyStage({ proxy: { rate: 5 }, operator: true, metricsPort: 0 })
})
afterAll(() => stage.close())

const APP = 'https://app.acme.test'
const config = (headers: Readonly<Record<string, string | undefined>> = {}) =>
  stage.post('wallet_kit_config', undefined, headers)

describe('proxy: which configuration', () => {
  test.each([
    { name: 'no header', header: undefined, expected: [400, 3, 'X-Auth-Proxy-Config-Id header is required'] },
    { name: 'an empty one', header: '', expected: [400, 3, 'X-Auth-Proxy-Config-Id header is required'] },
    { name: 'no id', header: 'x', expected: [404, 5, 'auth proxy configuration not found'] },
    { name: 'two ids', header: 'two, of them', expected: [404, 5, 'auth proxy configuration not found'] },
    { name: 'SQL', header: "' or 1=1 --", expected: [404, 5, 'auth proxy configuration not found'] },
    {
      name: 'an unknown one',
      header: '00000000-0000-4000-8000-00000000dead',
      expected: [404, 5, 'auth proxy configuration not found'],
    },
  ])('proxy: which configuration: $name', async ({ header, expected }) => {
    const answer = await config({ 'x-auth-proxy-config-id': header })
    expect(said(answer)).toEqual(expected)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('proxy: which configuration: the id and the name of its header are taken in any case', async () => {
    const headers = { 'x-auth-proxy-config-id': undefined, 'X-Auth-Proxy-Config-ID': stage.configId.toUpperCase() }
    expect((await config(headers)).status).toBe(200)
  })

  test('proxy: which configuration: one that is disabled is refused, and answers again when it is enabled', async () => {
    await complete(stage.root, 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY', {})
    expect(said(await config())).toEqual([403, 7, 'auth proxy is disabled'])
    expect(said(await stage.post('signup_v2', newSignUp()))).toEqual([403, 7, 'auth proxy is disabled'])
    const { userId } = await complete(stage.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
    expect((await config()).status).toBe(200)
    await complete(stage.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [userId] })
    expect(said(await config())).toEqual([403, 7, 'auth proxy is disabled'])
    await complete(stage.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  })
})

describe('proxy: its operator', () => {
  test('proxy: its operator: faults reach its port, and its connections are counted by themselves', async () => {
    const fault = { path: '/v1/wallet_kit_*', times: 1, status: 503 } as const
    await askOperator(stage.dataDir, { kind: 'add-fault', fault })
    expect((await config()).status).toBe(503)
    expect((await config()).status).toBe(200)
    const text = await (await fetch(stage.service.metricsUrl!)).text()
    for (const server of ['api', 'auth-proxy'])
      expect(text).toMatch(new RegExp(`^quorate_connections\\{server="${server}"\\} [1-9]`, 'm'))
  })
})

describe('proxy: origins', () => {
  beforeAll(() => stage.set({ allowedOrigins: [APP, 'http://localhost:3000'] }))
  afterAll(() => stage.set({ allowedOrigins: [] }))

  test.each([
    { origin: APP, allowed: true },
    { origin: 'http://localhost:3000', allowed: true },
    { origin: 'http://localhost:3001', allowed: false },
    { origin: 'http://localhost', allowed: false },
    { origin: 'http://app.acme.test', allowed: false },
    { origin: 'https://app.acme.test:443', allowed: false },
    { origin: 'https://APP.acme.test', allowed: false },
    { origin: 'https://app.acme.test/', allowed: false },
    { origin: 'https://app.acme.test.evil.test', allowed: false },
    { origin: 'https://evil-app.acme.test', allowed: false },
    { origin: 'https://sub.app.acme.test', allowed: false },
    { origin: `${APP}, https://evil.test`, allowed: false },
    { origin: 'null', allowed: false },
    { origin: '*', allowed: false },
    { origin: '', allowed: false },
  ])('proxy: origins: `$origin` is allowed: $allowed', async ({ origin, allowed }) => {
    const answer = await config({ origin })
    if (allowed) expect(answer.status).toBe(200)
    else expect(said(answer)).toEqual([403, 7, 'origin not allowed'])
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed ? origin : null)
    expect(answer.headers.get('vary')).toContain('Origin')
  })

  test('proxy: origins: a page that is allowed may read why it is refused', async () => {
    const answer = await stage.post('account', { filterType: 'SHOE_SIZE', filterValue: '42' }, { origin: APP })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('access-control-allow-origin')).toBe(APP)
  })

  test('proxy: origins: what is no page sends none', async () => {
    expect((await config({ origin: undefined })).status).toBe(200)
  })

  test('proxy: origins: a preflight is answered for any, as no configuration is named in it', async () => {
    for (const origin of [APP, 'https://evil.test', 'null']) {
      const answer = await fetch(`${stage.proxyUrl}/v1/signup_v2`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,x-auth-proxy-config-id,x-captcha-token',
        },
      })
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
      const allowed = answer.headers.get('access-control-allow-headers')!.toLowerCase()
      expect(allowed).toContain('x-auth-proxy-config-id')
      expect(allowed).toContain('x-captcha-token')
      expect(answer.headers.get('access-control-allow-methods')).toContain('POST')
    }
  })

  test('proxy: origins: one that is refused has changed nothing', async () => {
    const before = await stage.root.query('list_suborgs')
    expect((await stage.post('signup_v2', newSignUp(), { origin: 'https://evil.test' })).status).toBe(403)
    expect(await stage.root.query('list_suborgs')).toEqual(before)
  })
})

describe('proxy: requests', () => {
  test('proxy: requests: every endpoint of the catalogue is there, by POST alone', async () => {
    for (const { name, path } of Object.values(proxyEndpoints)) {
      expect([name, (await stage.post(path.slice('/v1/'.length), {})).status]).not.toEqual([name, 404])
      expect([name, (await fetch(stage.proxyUrl + path)).status]).toEqual([name, 405])
    }
    expect((await stage.post('list_users', {})).status).toBe(404)
    const submit = await fetch(`${stage.proxyUrl}/public/v1/submit/create_users`, { method: 'POST', body: '{}' })
    expect(submit.status).toBe(404)
  })

  test.each([
    { name: 'no JSON', body: '{' },
    { name: 'no object', body: '[]' },
    { name: 'text', body: '"x"' },
    { name: 'no UTF-8', body: '\ud800' },
    { name: 'a member twice', body: '{"filterType":"EMAIL","filter_type":"NAME","filterValue":"x"}' },
    { name: 'a list for a text', body: '{"filterType":["EMAIL"],"filterValue":"x"}' },
  ])('proxy: requests: $name is refused', async ({ body }) => {
    const { status, body: answer } = await stage.post('account', body)
    expect([status, answer['code'], answer['turnkeyErrorCode']]).toEqual([400, 3, 'REQUEST_INVALID'])
  })

  test('proxy: requests: one that is too large is refused before it is read', async () => {
    const { status, body } = await stage.post('account', 'x'.repeat(1_048_577))
    expect([status, body['message']]).toEqual([413, 'bad request body: larger than 1 MiB'])
  })

  test('proxy: requests: one address may not ask at any rate', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    const answers = await Promise.all(Array.from({ length: 40 }, () => config(headers)))
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(5)
    expect((await config({ 'x-forwarded-for': '192.0.2.8' })).status).toBe(200)
  })
})

describe('proxy: what a wallet kit asks for first', () => {
  afterAll(() =>
    stage.set({ walletKitSettings: {}, allowedAuthMethods: [], sessionExpirationSeconds: 0, otpLength: 0 }),
  )

  test('proxy: configuration: without settings it has the defaults, with a body and without', async () => {
    const expected = {
      enabledProviders: ['email', 'sms', 'passkey', 'wallet'],
      sessionExpirationSeconds: '900',
      organizationId: stage.organizationId,
    }
    expect((await stage.post('wallet_kit_config', {})).body).toEqual(expected)
    expect((await stage.post('wallet_kit_config', undefined)).body).toEqual(expected)
    expect((await stage.post('wallet_kit_client_params', undefined)).body).toEqual({})
    expect((await stage.post('wallet_kit_client_params', {})).body).toEqual({})
  })

  test('proxy: configuration: it has what was set', async () => {
    await stage.set({
      allowedAuthMethods: ['passkey', 'oauth'],
      walletKitSettings: {
        enabledSocialProviders: ['google'],
        oauthClientIds: { google: 'client-1' },
        oauthRedirectUrl: 'https://app.acme.test/back',
      },
      sessionExpirationSeconds: 60,
      otpLength: 6,
      otpAlphanumeric: false,
    })
    expect((await config()).body).toEqual({
      enabledProviders: ['passkey', 'google'],
      sessionExpirationSeconds: '60',
      organizationId: stage.organizationId,
      oauthClientIds: { google: 'client-1' },
      oauthRedirectUrl: 'https://app.acme.test/back',
      otpAlphanumeric: false,
      otpLength: '6',
    })
  })
})
