/** Every endpoint of the proxy: what it does, what it refuses, and that pages may ask it. */
import { encryptOauth2ClientSecret } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { type JsonObject, type ProxyEndpointName, proxyEndpoints } from '../../../src/protocol/index.ts'
import { complete } from '../handlers/steps.ts'
import { GRANT, type SocialProviders, startSocialProviders } from '../oauth/social.ts'
import { makePerson, nonceOf } from '../oauth/stage.ts'
import { startIssuer, type TestIssuer } from '../oidc/issuer.ts'
import { claimsOf, codeIn, encryptCode, loginBy, messageOf, type Proof } from '../one-time-passcodes/outbox.ts'
import { newSignUp, type ProxyStage, said, startProxyStage } from './stage.ts'

const METHODS = ['passkey', 'wallet', 'email', 'sms', 'oauth', 'x', 'discord']

let social: SocialProviders
let issuer: TestIssuer
let stage: ProxyStage
beforeAll(async () => {
  social = await startSocialProviders()
  issuer = await startIssuer('ES256')
  const providerUrls = { x: social.url, discord: social.url }
  stage = await startProxyStage({ providerUrls, privateIssuers: [issuer.url] })
  await stage.set({ allowedAuthMethods: METHODS })
  const { tlsFetcherEncryptionPublicKey } = stage.service.bootstrap
  await complete(stage.root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
    provider: 'OAUTH2_PROVIDER_X',
    clientId: GRANT.clientId,
    encryptedClientSecret: await encryptOauth2ClientSecret(GRANT.clientSecret, tlsFetcherEncryptionPublicKey),
  })
})
afterAll(async () => {
  await stage?.close()
  await issuer?.close()
  await social?.close()
})

let numbers = 0
/** A contact of a new person, and what a code for it is asked for with. */
async function newContact(otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS') {
  numbers += 1
  const contact = otpType === 'OTP_TYPE_EMAIL' ? `person-${numbers}@acme.test` : `+4930${1_000_000 + numbers}`
  const home = await makePerson(
    stage,
    [],
    otpType === 'OTP_TYPE_EMAIL' ? { userEmail: contact } : { userPhoneNumber: contact },
  )
  return { home, asked: { otpType, contact } }
}

/** Posts, and expects it to be done. */
async function done(endpoint: ProxyEndpointName, body: object | undefined): Promise<JsonObject> {
  const answer = await stage.post(endpoint, body)
  expect([endpoint, answer.status, answer.body['message']]).toEqual([endpoint, 200, undefined])
  return answer.body
}

/** A contact that is proved through the proxy: in the first form by the code itself, in the second by what is encrypted. */
async function proved(form: 1 | 2, asked: object): Promise<Proof> {
  const { result, message } = await messageOf(stage, () => done(form === 1 ? 'otp_init' : 'otp_init_v2', asked))
  const key = generateP256KeyPair()
  const [otpId, otpCode] = [String(result['otpId']), codeIn(message)]
  if (form === 1) {
    expect(Object.keys(result)).toEqual(['otpId'])
    const { verificationToken } = await done('otp_verify', { otpId, otpCode, publicKey: key.publicKey })
    return { token: String(verificationToken), key }
  }
  const sent = { otpId, bundle: String(result['otpEncryptionTargetBundle']), code: otpCode }
  const encryptedOtpBundle = await encryptCode(stage, sent, otpCode, key.publicKey)
  const { verificationToken } = await done('otp_verify_v2', { otpId, encryptedOtpBundle })
  return { token: String(verificationToken), key }
}

const newKey = () => generateP256KeyPair().publicKey
const ids = (session: unknown) => {
  const { organization_id: organizationId, user_id: userId } = claimsOf(String(session))
  return { organizationId, userId }
}
const exchange = (overrides: object = {}) => ({
  provider: 'OAUTH2_PROVIDER_X',
  clientId: GRANT.clientId,
  authCode: social.code({}),
  redirectUri: GRANT.redirectUri,
  codeVerifier: GRANT.codeVerifier,
  nonce: nonceOf(newKey()),
  ...overrides,
})

describe('proxy: endpoints', () => {
  for (const otpType of ['OTP_TYPE_EMAIL', 'OTP_TYPE_SMS'] as const) {
    for (const form of [1, 2] as const) {
      test(`proxy: endpoints: ${otpType}, form ${form}: a code, a token, the account, a session, once`, async () => {
        const { home, asked } = await newContact(otpType)
        const proof = await proved(form, asked)
        const filterType = otpType === 'OTP_TYPE_EMAIL' ? 'EMAIL' : 'PHONE_NUMBER'
        const look = { filterType, filterValue: asked.contact, verificationToken: proof.token }
        expect(await done('account', look)).toEqual({ organizationId: home.organizationId })
        const login = form === 1 ? 'otp_login' : 'otp_login_v2'
        const request = loginBy(proof, newKey())
        expect(ids((await done(login, request))['session'])).toEqual(home)
        expect(said(await stage.post(login, request))).toEqual([400, 3, 'invalid verification token: it was used'])
      })
    }
  }

  test('proxy: endpoints: a token of the first form without a key logs in without a signature, and not in the second', async () => {
    const { home, asked } = await newContact('OTP_TYPE_EMAIL')
    const { result, message } = await messageOf(stage, () => done('otp_init', asked))
    const code = { otpId: result['otpId'], otpCode: codeIn(message) }
    const { verificationToken } = await done('otp_verify', code)
    const request = { verificationToken, publicKey: newKey(), organizationId: home.organizationId }
    const signed = { ...request, clientSignature: loginBy(await proved(1, asked), request.publicKey).clientSignature }
    expect((await stage.post('otp_login_v2', signed)).status).toBe(400)
    expect(ids((await done('otp_login', request))['session'])).toEqual(home)
  })

  test('proxy: endpoints: who has an identity at an issuer is signed up with it by both forms, and logged in', async () => {
    for (const endpoint of ['signup', 'signup_v2'] as const) {
      const oidcToken = await issuer.token({ sub: endpoint })
      const made = await done(endpoint, newSignUp({ oauthProviders: [{ providerName: 'ours', oidcToken }] }))
      const publicKey = newKey()
      const login = await issuer.token({ sub: endpoint, nonce: nonceOf(publicKey) })
      const { organizationId, userId } = made
      expect(await done('account', { filterType: 'OIDC_TOKEN', filterValue: login })).toEqual({ organizationId })
      expect(ids((await done('oauth_login', { oidcToken: login, publicKey }))['session'])).toEqual({
        organizationId,
        userId,
      })
    }
  })

  test('proxy: endpoints: a code of a provider that speaks OAuth 2.0 alone becomes a token, a sign-up and a login', async () => {
    const publicKey = newKey()
    const { oidcToken } = await done('oauth2_authenticate', exchange())
    const made = await done('signup_v2', newSignUp({ oauthProviders: [{ providerName: 'x', oidcToken }] }))
    const next = await done('oauth2_authenticate', exchange({ nonce: nonceOf(publicKey) }))
    const { session } = await done('oauth_login', { oidcToken: next['oidcToken']!, publicKey })
    expect(ids(session)).toEqual({ organizationId: made['organizationId'], userId: made['userId'] })
  })

  test('proxy: endpoints: what a kit shows first is read', async () => {
    expect(await done('wallet_kit_config', undefined)).toMatchObject({ organizationId: stage.organizationId })
    expect(await done('wallet_kit_client_params', {})).toEqual({})
  })
})

/** What each endpoint takes; what is in it is right only as far as the refusal that is looked for. */
const bodies: Record<ProxyEndpointName, () => object> = {
  account: () => ({ filterType: 'NAME', filterValue: 'x' }),
  oauth2_authenticate: exchange,
  oauth_login: () => ({ oidcToken: 'x.y.z', publicKey: newKey() }),
  otp_init: () => ({ otpType: 'OTP_TYPE_SMS', contact: '+493012345' }),
  otp_init_v2: () => ({ otpType: 'OTP_TYPE_EMAIL', contact: 'x@acme.test' }),
  otp_login: () => ({ verificationToken: 'x.y.z', publicKey: newKey() }),
  otp_login_v2: () => loginBy({ token: `x.${btoa('{}')}.z`, key: generateP256KeyPair() }, newKey()),
  otp_verify: () => ({ otpId: stage.organizationId, otpCode: '000000000' }),
  otp_verify_v2: () => ({ otpId: stage.organizationId, encryptedOtpBundle: '{}' }),
  signup: newSignUp,
  signup_v2: newSignUp,
  wallet_kit_client_params: () => ({}),
  wallet_kit_config: () => ({}),
}
const names = Object.values(proxyEndpoints).map(({ name }) => name)

describe('proxy: refusals of every endpoint', () => {
  test.each(names)(
    'proxy: %s: a preflight is answered; a strange page, configuration and body are refused',
    async (name) => {
      const origin = 'https://app.acme.test'
      const preflight = await fetch(`${stage.proxyUrl}/v1/${name}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      })
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])

      const post = (headers: Record<string, string | undefined>) => stage.post(name, bodies[name](), headers)
      const unknown = '00000000-0000-4000-8000-00000000dead'
      expect(said(await post({ 'x-auth-proxy-config-id': unknown }))).toEqual([
        404,
        5,
        'auth proxy configuration not found',
      ])
      expect(said(await post({ 'x-auth-proxy-config-id': undefined }))).toEqual([
        400,
        3,
        'X-Auth-Proxy-Config-Id header is required',
      ])
      const { status, body } = await stage.post(name, '{')
      expect([status, body['code'], body['turnkeyErrorCode']]).toEqual([400, 3, 'REQUEST_INVALID'])

      await stage.set({ allowedOrigins: [origin] })
      const strange = await post({ origin: 'https://evil.test' })
      expect(said(strange)).toEqual([403, 7, 'origin not allowed'])
      expect(strange.headers.get('access-control-allow-origin')).toBeNull()
      expect((await post({ origin })).headers.get('access-control-allow-origin')).toBe(origin)
      await stage.set({ allowedOrigins: [] })
    },
  )

  const closed = [403, 7, 'auth method not enabled']
  const noOauth = [403, 7, 'OAUTH disallowed']
  const invalid = (message: string) => [400, 3, expect.stringContaining(message)]
  const notFound = (message: string) => [404, 5, expect.stringContaining(message)]
  const walletKey = { apiKeyName: 'wallet', publicKey: '11'.repeat(32), curveType: 'API_KEY_CURVE_ED25519' }
  const byOauth = async () => ({
    oauthProviders: [{ providerName: 'ours', oidcToken: await issuer.token({ sub: 'nobody' }) }],
  })
  const someToken = async () => loginBy(await proved(2, (await newContact('OTP_TYPE_SMS')).asked), newKey())

  /** Refused by what is in the body; with `methods`, because the way in is closed. */
  const refused: readonly {
    readonly of: readonly ProxyEndpointName[]
    readonly name: string
    readonly body: () => object | Promise<object>
    readonly methods?: readonly string[]
    readonly expected: readonly unknown[]
  }[] = [
    { of: ['otp_init'], name: 'closed', body: bodies.otp_init, methods: ['email'], expected: closed },
    { of: ['otp_init_v2'], name: 'closed', body: bodies.otp_init_v2, methods: ['sms'], expected: closed },
    { of: ['otp_login', 'otp_login_v2'], name: 'closed', body: someToken, methods: ['email'], expected: closed },
    {
      of: ['oauth_login'],
      name: 'closed',
      body: async () => ({ oidcToken: await issuer.token({ sub: 'x' }), publicKey: newKey() }),
      methods: ['passkey'],
      expected: noOauth,
    },
    { of: ['oauth2_authenticate'], name: 'closed', body: exchange, methods: ['discord'], expected: noOauth },
    {
      of: ['signup', 'signup_v2'],
      name: 'wallets closed',
      body: () => newSignUp({ apiKeys: [walletKey] }),
      methods: ['passkey'],
      expected: closed,
    },
    {
      of: ['signup', 'signup_v2'],
      name: 'issuers closed',
      body: async () => newSignUp(await byOauth()),
      methods: ['passkey'],
      expected: noOauth,
    },
    {
      of: ['account'],
      name: 'a filter that there is not',
      body: () => ({ filterType: 'SHOE_SIZE', filterValue: '42' }),
      expected: invalid('`filterType` must be one of'),
    },
    {
      of: ['otp_init', 'otp_init_v2'],
      name: 'a type that there is not',
      body: () => ({ otpType: 'OTP_TYPE_PIGEON', contact: 'x' }),
      expected: invalid('`otpType` must be one of'),
    },
    {
      of: ['otp_init', 'otp_init_v2'],
      name: 'a number that is none',
      body: () => ({ otpType: 'OTP_TYPE_SMS', contact: '0301234567' }),
      expected: invalid('E.164'),
    },
    { of: ['otp_verify'], name: 'an unknown code', body: bodies.otp_verify, expected: invalid('Invalid OTP code') },
    { of: ['otp_verify_v2'], name: 'no bundle', body: bodies.otp_verify_v2, expected: invalid('') },
    {
      of: ['otp_login', 'otp_login_v2'],
      name: 'a made-up token',
      body: bodies.otp_login_v2,
      expected: invalid('invalid verification token'),
    },
    { of: ['oauth_login'], name: 'a made-up token', body: bodies.oauth_login, expected: invalid('invalid OIDC token') },
    {
      of: ['oauth_login'],
      name: 'a token for another key',
      body: async () => ({
        oidcToken: await issuer.token({ sub: 'signup', nonce: nonceOf(newKey()) }),
        publicKey: newKey(),
      }),
      expected: invalid('invalid OIDC token'),
    },
    {
      of: ['oauth2_authenticate'],
      name: 'an unknown client',
      body: () => exchange({ clientId: 'nobody' }),
      expected: notFound('nobody'),
    },
    {
      of: ['oauth2_authenticate'],
      name: 'a code that was used',
      body: () => exchange({ authCode: 'used' }),
      expected: invalid(''),
    },
    { of: ['signup', 'signup_v2'], name: 'nobody', body: () => newSignUp({ apiKeys: [] }), expected: invalid('') },
  ]
  test.each(refused.flatMap(({ of, ...row }) => of.map((endpoint) => ({ endpoint, ...row }))))(
    'proxy: $endpoint: $name is refused',
    async ({ endpoint, body, methods, expected }) => {
      const request = await body()
      await stage.set({ allowedAuthMethods: methods ?? METHODS })
      expect(said(await stage.post(endpoint, request))).toEqual(expected)
      await stage.set({ allowedAuthMethods: METHODS })
    },
  )
})
