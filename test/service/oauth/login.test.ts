import { decryptCredentialBundle, encryptOauth2ClientSecret, verifySessionJwtSignature } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, uncompressP256 } from '../../../src/crypto/index.ts'
import { complete, NOBODY, type Refusal, refusalOf } from '../handlers/steps.ts'
import { createTestClock, createTestUser, startTestService, type TestService } from '../harness.ts'
import { startIssuer, type TestIssuer } from '../oidc/issuer.ts'
import { startProvider, type TestProvider } from './provider.ts'
import { GRANT, type SocialProviders, startSocialProviders } from './social.ts'
import { makePerson, nonceOf } from './stage.ts'

const LOGIN = 'ACTIVITY_TYPE_OAUTH_LOGIN'
const OAUTH = 'ACTIVITY_TYPE_OAUTH'
const DENIED = [403, 7] as const

let provider: TestProvider
let google: TestIssuer
let social: SocialProviders
let service: TestService
const clock = createTestClock(Date.now())
beforeAll(async () => {
  provider = await startProvider()
  google = await startIssuer('ES256')
  social = await startSocialProviders()
  service = await startTestService({
    clock,
    privateIssuers: [provider.url],
    providerUrls: { google: google.url, x: social.url },
  })
})
afterAll(async () => {
  await service.close()
  await Promise.all([provider.close(), google.close(), social.close()])
})

describe('oauth_login', () => {
  test.each(['wallet-es256', 'wallet-rs256'] as const)(
    'oauth_login: who logs in at a real provider by a code with PKCE (%s) has a session',
    async (client) => {
      const subject = `ada-${client}`
      const home = await makePerson(service, [await provider.logIn({ subject, nonce: 'registration', client })])
      const key = generateP256KeyPair()
      for (const publicKey of [key.publicKey, uncompressP256(generateP256KeyPair().publicKey)!]) {
        const oidcToken = await provider.logIn({ subject, nonce: nonceOf(publicKey), client })
        const { session } = await complete(service.root, LOGIN, { oidcToken, publicKey }, home.organizationId)
        expect(await verifySessionJwtSignature(session, service.service.bootstrap.notarizerPublicKey)).toBe(true)
      }
      const whoami = await service.client(key.privateKey).query('whoami', { organizationId: home.organizationId })
      expect(whoami).toMatchObject(home)
    },
  )

  test('oauth_login: after the provider has changed its keys, and never by those before', async () => {
    const subject = 'rotated'
    const home = await makePerson(service, [await provider.logIn({ subject, nonce: 'registration' })])
    const [before, after] = [generateP256KeyPair(), generateP256KeyPair()]
    const old = await provider.logIn({ subject, nonce: nonceOf(before.publicKey) })
    provider.rotate()
    const oidcToken = await provider.logIn({ subject, nonce: nonceOf(after.publicKey) })
    clock.advance(10_001)
    await complete(service.root, LOGIN, { oidcToken, publicKey: after.publicKey }, home.organizationId)
    const request = service.root.submit(LOGIN, { oidcToken: old, publicKey: before.publicKey }, home)
    expect(await refusalOf(request)).toEqual([400, 3, 'invalid OIDC token', 'INVALID_OIDC_TOKEN'])
  })

  test('oauth_login: somebody whom X knows logs in by the token that the service issues itself', async () => {
    const { tlsFetcherEncryptionPublicKey } = service.service.bootstrap
    const { oauth2CredentialId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: GRANT.clientId,
      encryptedClientSecret: await encryptOauth2ClientSecret(GRANT.clientSecret, tlsFetcherEncryptionPublicKey),
    })
    const tokenFor = async (publicKey: string) => {
      const { redirectUri, codeVerifier } = GRANT
      const code = { oauth2CredentialId, authCode: social.code({}), redirectUri, codeVerifier }
      const made = await complete(service.root, 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE', {
        ...code,
        nonce: nonceOf(publicKey),
      })
      return made.oidcToken
    }
    const key = generateP256KeyPair()
    const home = await makePerson(service, [await tokenFor(NOBODY)])
    const found = await service.root.query('list_suborgs', {
      filterType: 'OIDC_TOKEN',
      filterValue: await tokenFor(NOBODY),
    })
    expect(found).toEqual({ organizationIds: [home.organizationId] })
    const oidcToken = await tokenFor(key.publicKey)
    await complete(service.root, LOGIN, { oidcToken, publicKey: key.publicKey }, home.organizationId)
    const whoami = await service.client(key.privateKey).query('whoami', { organizationId: service.organizationId })
    expect(whoami).toMatchObject(home)
  })

  test('oauth_login: a token for several clients is for each of them, and its renamed nonce counts', async () => {
    const home = await makePerson(service, [await google.token({ sub: 'several', aud: 'second' })])
    const { publicKey } = generateP256KeyPair()
    const claims = { sub: 'several', aud: ['first', 'second'], azp: 'first', tknonce: nonceOf(publicKey) }
    await complete(service.root, LOGIN, { oidcToken: await google.token(claims), publicKey }, home.organizationId)
  })
})

describe('oauth', () => {
  test('oauth: the bundle holds a key that stamps, and invalidateExisting ends the keys before it', async () => {
    const home = await makePerson(service, [await google.token({ sub: 'bundled' })])
    const target = generateP256KeyPair()
    const login = async (overrides: object = {}) => {
      const { publicKey: targetPublicKey, privateKey } = target
      const oidcToken = await google.token({
        sub: 'bundled',
        nonce: nonceOf(targetPublicKey),
        jti: crypto.randomUUID(),
      })
      const result = await complete(
        service.root,
        OAUTH,
        { oidcToken, targetPublicKey, ...overrides },
        home.organizationId,
      )
      expect(result.userId).toBe(home.userId)
      return service.client(decryptCredentialBundle(result.credentialBundle, privateKey))
    }
    const first = await login()
    expect(await first.query('whoami', home)).toMatchObject(home)
    const second = await login({ invalidateExisting: true, apiKeyName: 'mine' })
    expect((await refusalOf(first.query('whoami', home)))[1]).toBe(16)
    const { apiKeys } = (await second.query('get_user', home)).user
    expect(
      apiKeys.map(({ apiKeyName, credential, expirationSeconds }) => [apiKeyName, credential.type, expirationSeconds]),
    ).toEqual([['mine', 'CREDENTIAL_TYPE_OAUTH_KEY_P256', '900']])
  })
})

describe('logins by the parent', () => {
  /** A user of the parent who may create what is of this resource, perhaps with another's approval. */
  async function makeBackend(resource: string, consensus?: string) {
    const user = await createTestUser(service, `backend-${resource}`)
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: `backend ${user.userId}`,
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${user.userId}')${consensus ?? ''}`,
      condition: `activity.resource == '${resource}' && activity.action == 'CREATE'`,
    })
    return user
  }

  const tokenFor = (sub: string, publicKey: string) => google.token({ sub, nonce: nonceOf(publicKey) })

  test('logins by the parent: its policies decide, and nobody else’s', async () => {
    const home = await makePerson(service, [await google.token({ sub: 'inside' })])
    const other = await makePerson(service, [await google.token({ sub: 'beside' })])
    const { publicKey } = generateP256KeyPair()
    const request = { oidcToken: await tokenFor('inside', publicKey), publicKey }
    const nobody = await createTestUser(service, 'nobody')
    expect((await refusalOf(nobody.client.submit(LOGIN, request, home))).slice(0, 2)).toEqual(DENIED)
    const waits = await makeBackend('AUTH', ` && approvers.any(user, user.id == '${service.rootUserId}')`)
    expect((await refusalOf(waits.client.submit(LOGIN, request, home))).slice(0, 2)).toEqual(DENIED)
    const users = await makeBackend('USER')
    expect((await refusalOf(users.client.submit(LOGIN, request, home))).slice(0, 2)).toEqual(DENIED)
    const backend = await makeBackend('AUTH')
    const activity = await backend.client.submit(LOGIN, request, home)
    expect([activity.status, activity.organizationId]).toEqual(['ACTIVITY_STATUS_COMPLETED', home.organizationId])
    const read = await service.root.query('get_activity', { activityId: activity.id, ...home })
    expect(read.activity.votes.map(({ userId }) => userId)).toEqual([backend.userId])
    const told = await service.root.query('get_policy_evaluations', { activityId: activity.id, ...home })
    expect(told.policyEvaluations[0]!.policyEvaluations).toContainEqual(
      expect.objectContaining({ outcome: 'OUTCOME_ALLOW' }),
    )
    // Another one by the same version of the parent's policies, and one that is not the user's own organization.
    const again = generateP256KeyPair().publicKey
    const second = { oidcToken: await tokenFor('inside', again), publicKey: again }
    expect((await refusalOf(backend.client.submit(LOGIN, second, other)))[1]).toBe(5)
    await complete(backend.client, LOGIN, second, home.organizationId)
  })

  test('logins by the parent: nothing else may be submitted into a sub-organization', async () => {
    const home = await makePerson(service, [await google.token({ sub: 'closed' })])
    const refusal = await refusalOf(
      service.root.submit('ACTIVITY_TYPE_UPDATE_USER_NAME', { userId: home.userId, userName: 'mine' }, home),
    )
    expect(refusal[3]).toBe('ORGANIZATION_MISMATCH')
  })

  test.each<{ name: string; claims: object; email?: string; refusal?: Refusal }>([
    { name: 'Google vouches for', claims: { email: 'Vera@acme.test', email_verified: true } },
    { name: 'Google does not vouch for', claims: { email: 'vera@acme.test' }, refusal: notAuthorized() },
    { name: 'another has', claims: { email: 'eve@acme.test', email_verified: true }, refusal: notAuthorized() },
    {
      name: 'the user does not have',
      claims: { email: 'vera@acme.test', email_verified: true },
      email: '',
      refusal: notAuthorized(),
    },
  ])(
    'logins by the parent: an identity with an address that $name is linked accordingly',
    async ({ claims, email = 'vera@acme.test', refusal }) => {
      const home = await makePerson(service, [await google.token({ sub: crypto.randomUUID() })], { userEmail: email })
      const sub = crypto.randomUUID()
      const oauthProviders = [{ providerName: 'google', oidcToken: await google.token({ sub, ...claims }) }]
      const linked = service.root.submit(
        'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2',
        { userId: home.userId, oauthProviders },
        home,
      )
      if (refusal) return expect(await refusalOf(linked)).toEqual(refusal)
      expect((await linked).status).toBe('ACTIVITY_STATUS_COMPLETED')
      const { publicKey } = generateP256KeyPair()
      const oidcToken = await tokenFor(sub, publicKey)
      await complete(service.root, LOGIN, { oidcToken, publicKey }, home.organizationId)
    },
  )

  test('logins by the parent: an identity of another issuer is never linked', async () => {
    const email = 'vera@acme.test'
    const home = await makePerson(service, [await google.token({ sub: crypto.randomUUID() })], { userEmail: email })
    const oauthProviders = [
      { providerName: 'other', oidcToken: await provider.logIn({ subject: 'vera', nonce: 'registration' }) },
    ]
    const linked = service.root.submit(
      'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2',
      { userId: home.userId, oauthProviders },
      home,
    )
    expect(await refusalOf(linked)).toEqual(notAuthorized())
  })
})

function notAuthorized(): Refusal {
  return [403, 7, 'request not authorized', 'REQUEST_NOT_AUTHORIZED']
}
