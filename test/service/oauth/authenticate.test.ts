import { decryptCredentialBundle, encryptOauth2ClientSecret } from '@turnkey/crypto'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, uncompressP256 } from '../../../src/crypto/index.ts'
import { complete, type Refusal, refusalOf } from '../handlers/steps.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { ACCESS_TOKEN, GRANT, type SocialProviders, startSocialProviders } from './social.ts'

const TYPE = 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE'

let social: SocialProviders
let service: TestService
const clock = createTestClock(Date.now())
beforeAll(async () => {
  social = await startSocialProviders()
  service = await startTestService({ clock, providerUrls: { x: social.url, discord: social.url } })
})
afterAll(async () => {
  await service.close()
  await social.close()
})

/** Keeps the secret of a client, sealed by the published function to this service's key. */
async function makeCredential(provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD', sealed?: string) {
  const { tlsFetcherEncryptionPublicKey } = service.service.bootstrap
  const encryptedClientSecret =
    sealed ?? (await encryptOauth2ClientSecret(GRANT.clientSecret, tlsFetcherEncryptionPublicKey))
  const credential = { provider, clientId: GRANT.clientId, encryptedClientSecret }
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', credential)
  return made.oauth2CredentialId
}

const request = (oauth2CredentialId: string, overrides: object = {}) => ({
  oauth2CredentialId,
  authCode: social.code({}),
  redirectUri: GRANT.redirectUri,
  codeVerifier: GRANT.codeVerifier,
  nonce: 'bb10ef176079a9fefe44e06dbd59dbc6ca044b2ff38bc241da985d4c00e3b98e',
  ...overrides,
})

/** What anybody can fetch from the service. */
async function fetchJson(path: string) {
  const response = await fetch(`${service.url}${path}`)
  return { cache: response.headers.get('cache-control'), body: (await response.json()) as Record<string, unknown> }
}

describe('oauth2_authenticate', () => {
  test.each([
    ['OAUTH2_PROVIDER_X', 'x'],
    ['OAUTH2_PROVIDER_DISCORD', 'discord'],
  ] as const)('oauth2_authenticate: %s: a code becomes a token that anybody can verify', async (provider, name) => {
    const { oidcToken } = await complete(service.root, TYPE, request(await makeCredential(provider)))
    const { body: configuration, cache } = await fetchJson('/.well-known/openid-configuration')
    expect([configuration['issuer'], cache]).toEqual([service.url, 'public, max-age=86400'])
    const { body } = await fetchJson(new URL(String(configuration['jwks_uri'])).pathname)
    const keys = createLocalJWKSet(body as unknown as JSONWebKeySet)
    const currentDate = new Date(clock())
    const { payload, protectedHeader } = await jwtVerify(oidcToken, keys, { algorithms: ['ES256'], currentDate })
    const iat = Math.floor(clock() / 1000)
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' })
    expect(payload).toEqual({
      iss: service.url,
      aud: GRANT.clientId,
      sub: `${name}:${GRANT.userId}`,
      nonce: 'bb10ef176079a9fefe44e06dbd59dbc6ca044b2ff38bc241da985d4c00e3b98e',
      iat,
      exp: iat + 600,
    })
  })

  test('oauth2_authenticate: the access token is for the key alone that was named, in a bundle that clients open', async () => {
    const key = generateP256KeyPair()
    for (const bearerTokenTargetPublicKey of [key.publicKey, uncompressP256(key.publicKey)!]) {
      const of = request(await makeCredential('OAUTH2_PROVIDER_X'), { bearerTokenTargetPublicKey })
      const { oidcToken } = await complete(service.root, TYPE, of)
      const claims = JSON.parse(Buffer.from(oidcToken.split('.')[1]!, 'base64url').toString())
      const opened = decryptCredentialBundle(claims.encrypted_bearer_token, key.privateKey)
      expect(Buffer.from(opened, 'hex').toString()).toMatch(new RegExp(`^${ACCESS_TOKEN}`))
    }
  })

  test.each<{ name: string; overrides: () => object; refusal: Refusal; asked?: number }>([
    ...['auth_code', 'redirect_uri', 'code_verifier', 'nonce'].map((name) => ({
      name: `without ${name}`,
      overrides: () => ({ [name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())]: '' }),
      refusal: [400, 3, `${name} must be set`, 'REQUEST_INVALID'] as Refusal,
      asked: 0,
    })),
    {
      name: 'with a target that is no key',
      overrides: () => ({ bearerTokenTargetPublicKey: '02ab' }),
      refusal: [
        400,
        3,
        'invalid request body: field `bearerTokenTargetPublicKey` must be a P-256 public key in hex',
        'REQUEST_INVALID',
      ],
      asked: 0,
    },
  ])('oauth2_authenticate: $name nobody is asked', async ({ overrides, refusal, asked }) => {
    const id = await makeCredential('OAUTH2_PROVIDER_X')
    const before = social.asked.length
    expect(await refusalOf(service.root.submit(TYPE, request(id, overrides())))).toEqual(refusal)
    expect(social.asked.length - before).toBe(asked)
  })

  test('oauth2_authenticate: a secret that is sealed to another key is told, and nobody is asked', async () => {
    const other = uncompressP256(generateP256KeyPair().publicKey)!
    const before = social.asked.length
    for (const sealed of [await encryptOauth2ClientSecret(GRANT.clientSecret, other), 'abcd', 'planted-clear-secret']) {
      const id = await makeCredential('OAUTH2_PROVIDER_X', sealed)
      expect(await refusalOf(service.root.submit(TYPE, request(id)))).toEqual([
        400,
        3,
        `oauth2 provider not configured: the client secret of oauth2 credential ${id} is not encrypted to the key of this service`,
        'OAUTH2_PROVIDER_NOT_CONFIGURED',
      ])
    }
    expect(social.asked.length).toBe(before)
  })

  test('oauth2_authenticate: the service keeps its name and its keys when it starts again elsewhere', async () => {
    const before = await fetchJson('/.well-known/openid-configuration')
    const keys = await fetchJson('/.well-known/jwks.json')
    await service.restart()
    expect(before.body['issuer']).not.toBe(service.url)
    expect(await fetchJson('/.well-known/openid-configuration')).toEqual(before)
    expect(await fetchJson('/.well-known/jwks.json')).toEqual(keys)
  })
})
