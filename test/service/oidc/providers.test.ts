import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.ts'
import {
  complete,
  fresh,
  invalid,
  makeUser,
  missing,
  NOBODY,
  newUser,
  type Refusal,
  refusalOf,
} from '../handlers/steps.ts'
import { createTestClock, createTestUser, startTestService, type TestService } from '../harness.ts'
import { startIssuer, type TestIssuer } from './issuer.ts'

const V2 = 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2'
const DELETE = 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS'
const notVerified: Refusal = [400, 3, 'invalid OIDC token', 'INVALID_OIDC_TOKEN']

let issuer: TestIssuer
/** Can be reached, and is nobody's word about an e-mail address: it stands where Discord is asked. */
let other: TestIssuer
let service: TestService
beforeAll(async () => {
  ;[issuer, other] = await Promise.all([startIssuer(), startIssuer()])
  service = await startTestService({ privateIssuers: [issuer.url], providerUrls: { discord: other.url } })
})
afterAll(async () => {
  await service.close()
  await Promise.all([issuer.close(), other.close()])
})

/** A provider whose token is of somebody new. */
async function provider(claims: object = {}, by = issuer) {
  return { providerName: fresh('provider'), oidcToken: await by.token({ sub: fresh('sub'), ...claims }) }
}

const taken = (): Refusal => [
  409,
  6,
  `oauth provider with issuer ${issuer.url} and audience client already exists for this subject in this organization`,
  'OAUTH_PROVIDER_ALREADY_EXISTS',
]

describe('create_oauth_providers', () => {
  test.each(['ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS', V2] as const)(
    'create_oauth_providers: %s keeps who the token says that its bearer is',
    async (type) => {
      const userId = await makeUser(service.root)
      const [sub, providerName] = [fresh('sub'), fresh('provider')]
      const oauthProviders = [{ providerName, oidcToken: await issuer.token({ sub }) }]
      const { providerIds } = await complete(service.root, type, { userId, oauthProviders })
      const { oauthProviders: listed } = await service.root.query('get_oauth_providers', { userId })
      expect(listed).toEqual([
        {
          ...{ providerId: providerIds[0], providerName, issuer: issuer.url, audience: 'client', subject: sub },
          ...{ createdAt: expect.anything(), updatedAt: expect.anything() },
        },
      ])
      expect((await service.root.query('get_user', { userId })).user.oauthProviders).toEqual(listed)
    },
  )

  test.each<{ name: string; claims: object; audience: string }>([
    { name: 'the only one', claims: { aud: ['one'] }, audience: 'one' },
    { name: 'the first of several', claims: { aud: ['one', 'two'] }, audience: 'one' },
    { name: 'the party that the token was made for', claims: { aud: ['one', 'two'], azp: 'two' }, audience: 'two' },
  ])('create_oauth_providers: of a list of audiences, $name is kept', async ({ claims, audience }) => {
    const userId = await makeUser(service.root)
    await complete(service.root, V2, { userId, oauthProviders: [await provider(claims)] })
    const { oauthProviders } = await service.root.query('get_oauth_providers', { userId })
    expect(oauthProviders.map((row) => row.audience)).toEqual([audience])
  })

  test.each<{ name: string; token: () => Promise<string> }>([
    { name: 'expired', token: () => issuer.token({ exp: Math.floor(Date.now() / 1000) - 120 }) },
    { name: 'without an expiry', token: () => issuer.token({ exp: undefined }) },
    { name: 'not valid yet', token: () => issuer.token({ nbf: Math.floor(Date.now() / 1000) + 120 }) },
    { name: 'issued in the future', token: () => issuer.token({ iat: Math.floor(Date.now() / 1000) + 120 }) },
    { name: 'without a subject', token: () => issuer.token({ sub: undefined }) },
    { name: 'with an empty subject', token: () => issuer.token({ sub: '' }) },
    { name: 'without an audience', token: () => issuer.token({ aud: undefined }) },
    { name: 'with another signature', token: async () => altered(await issuer.token(), 2) },
    { name: 'with other claims', token: async () => altered(await issuer.token(), 1) },
    { name: 'of an issuer on a private address', token: () => issuer.token({ iss: 'https://127.0.0.1:9' }) },
    { name: 'of an issuer without https', token: () => issuer.token({ iss: 'http://example.com' }) },
    { name: 'of an issuer that is no URL', token: () => issuer.token({ iss: 'someone' }) },
    { name: 'of a path that is not the issuer’s', token: () => issuer.token({ iss: `${issuer.url}/other` }) },
    { name: 'of an issuer who calls himself otherwise', token: () => issuer.token({ iss: `${issuer.url}/` }) },
    { name: 'unsigned', token: async () => unsigned(await issuer.token()) },
    { name: 'that is none', token: async () => 'a.b.c' },
  ])('create_oauth_providers: a token $name is refused', async ({ token }) => {
    const oauthProviders = [{ providerName: 'p', oidcToken: await token() }]
    const refusal = await refusalOf(service.root.submit(V2, { userId: service.rootUserId, oauthProviders }))
    expect(refusal).toEqual(notVerified)
    const users = [newUser({ oauthProviders })]
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users }))).toEqual(notVerified)
  })

  test('create_oauth_providers: claims name another client id of a person whose token is beside them', async () => {
    const userId = await makeUser(service.root)
    const sub = fresh('sub')
    const claims = (overrides: object = {}) => ({
      providerName: fresh('ios'),
      oidcClaims: { iss: issuer.url, sub, aud: 'ios-client', ...overrides },
    })
    const oauthProviders = [{ providerName: 'web', oidcToken: await issuer.token({ sub }) }, claims()]
    const of = (...list: object[]) => ({ userId, oauthProviders: list })
    expect(await refusalOf(service.root.submit(V2, of(claims())))).toEqual(notVerified)
    const [web] = oauthProviders
    for (const wrong of [{ sub: 'other' }, { iss: 'https://other.test' }]) {
      expect(await refusalOf(service.root.submit(V2, of(web!, claims(wrong))))).toEqual(notVerified)
    }
    await complete(service.root, V2, of(...oauthProviders))
    const { oauthProviders: listed } = await service.root.query('get_oauth_providers', { userId })
    expect(listed.map(({ audience, subject }) => [audience, subject])).toEqual([
      ['client', sub],
      ['ios-client', sub],
    ])
  })

  test('create_oauth_providers: one identity is one user’s', async () => {
    const same = await provider()
    await complete(service.root, V2, { userId: await makeUser(service.root), oauthProviders: [same] })
    const again = { userId: await makeUser(service.root), oauthProviders: [same] }
    expect(await refusalOf(service.root.submit(V2, again))).toEqual(taken())
    const other = await provider()
    const twins = { users: [newUser({ oauthProviders: [other] }), newUser({ oauthProviders: [other] })] }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V4', twins))).toEqual(taken())
  })

  test('create_oauth_providers: a user has ten at most', async () => {
    const userId = await makeUser(service.root)
    const oauthProviders = await Promise.all(Array.from({ length: 11 }, () => provider()))
    expect(await refusalOf(service.root.submit(V2, { userId, oauthProviders }))).toEqual([
      429,
      8,
      'user has exceeded maximum oauth providers (10)',
      '',
    ])
    await complete(service.root, V2, { userId, oauthProviders: oauthProviders.slice(1) })
  })

  test('create_oauth_providers: what waits for consensus is carried out though its token has expired since', async () => {
    const clock = createTestClock(Date.now())
    const waiting = await startTestService({ privateIssuers: [issuer.url], clock })
    const ada = await createTestUser(waiting, 'ada')
    const bob = await createTestUser(waiting, 'bob')
    const consensus = [ada, bob].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ')
    await complete(waiting.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'two',
      effect: 'EFFECT_ALLOW',
      consensus,
      condition: `activity.type == '${V2}'`,
    })
    const userId = await makeUser(waiting.root)
    const parameters = { userId, oauthProviders: [await provider()] }
    const { fingerprint, status } = await ada.client.submit(V2, parameters)
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    clock.advance(2 * 3_600_000)
    expect(await refusalOf(waiting.root.submit(V2, parameters))).toEqual(notVerified)
    expect((await bob.client.approve(fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect((await waiting.root.query('get_oauth_providers', { userId })).oauthProviders).toHaveLength(1)
    await waiting.close()
  })

  test('create_oauth_providers: nobody without a credential makes the service ask an issuer', async () => {
    const unknown = await startIssuer()
    const asking = await startTestService({ privateIssuers: [unknown.url] })
    const oauthProviders = [{ providerName: 'p', oidcToken: await unknown.token() }]
    const parameters = { userId: asking.rootUserId, oauthProviders }
    const refusal = await refusalOf(asking.client('11'.repeat(32)).submit(V2, parameters))
    expect([refusal[3], unknown.fetches()]).toEqual(['PUBLIC_KEY_NOT_FOUND', 0])
    // A port that is not listed is another origin.
    expect(await refusalOf(service.root.submit(V2, { ...parameters, userId: service.rootUserId }))).toEqual(notVerified)
    expect(unknown.fetches()).toBe(0)
    await complete(asking.root, V2, parameters)
    expect(unknown.fetches()).toBe(1)
    await asking.close()
    await unknown.close()
  })
})

describe('delete_oauth_providers', () => {
  test('delete_oauth_providers: the last way in stays, another may go', async () => {
    const users = [newUser({ apiKeys: [], oauthProviders: [await provider(), await provider()] })]
    const { userIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users })
    const userId = userIds[0]!
    const { oauthProviders } = await service.root.query('get_oauth_providers', { userId })
    const providerIds = oauthProviders.map(({ providerId }) => providerId)
    expect(await refusalOf(service.root.submit(DELETE, { userId, providerIds }))).toEqual(
      invalid(`user missing valid credential: ${userId}`),
    )
    const one = { userId, providerIds: providerIds.slice(1) }
    expect(await complete(service.root, DELETE, one)).toEqual({ providerIds: providerIds.slice(1) })
    expect(await refusalOf(service.root.submit(DELETE, { userId, providerIds: [NOBODY] }))).toEqual(
      missing(`oauth provider not found: ${NOBODY}`),
    )
  })
})

describe('sub-organizations by identity', () => {
  const find = (filterType: string, filterValue: string) =>
    service.root.query('list_suborgs', { filterType, filterValue })

  test('sub-organizations by identity: a token and its claims find the one whose user it is', async () => {
    const sub = fresh('sub')
    const oidcToken = await issuer.token({ sub })
    const oauthProviders = [{ providerName: 'p', oidcToken }]
    const rootUser = { userName: 'una', apiKeys: [], authenticators: [], oauthProviders }
    const { subOrganizationId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: 's',
      rootUsers: [rootUser],
      rootQuorumThreshold: 1,
    })
    expect(await find('OIDC_TOKEN', await issuer.token({ sub }))).toEqual({ organizationIds: [subOrganizationId] })
    expect(await find('OIDC_TOKEN', await issuer.token({ sub, aud: 'another' }))).toEqual({ organizationIds: [] })
    const claims = { iss: issuer.url, sub, aud: 'client' }
    expect(await find('OIDC_CLAIMS', JSON.stringify(claims))).toEqual({ organizationIds: [subOrganizationId] })
    const expired = await issuer.token({ sub, exp: 1 })
    expect(await refusalOf(find('OIDC_TOKEN', expired))).toEqual(notVerified)
  })

  test.each<{ name: string; claims: JsonObject; verified: boolean; by?: 'other' }>([
    { name: 'says is verified', claims: { email: 'Vera@acme.test', email_verified: true }, verified: true },
    { name: 'does not say is verified', claims: { email: 'vera@acme.test' }, verified: false },
    { name: 'says is another', claims: { email: 'other@acme.test', email_verified: true }, verified: false },
    {
      name: 'of an issuer that nobody has named says is verified',
      claims: { email: 'vera@acme.test', email_verified: true },
      verified: false,
      by: 'other',
    },
  ])('sub-organizations by identity: an e-mail that the token $name', async ({ claims, verified, by }) => {
    const email = `${fresh('vera')}@acme.test`
    const said = { ...claims, email: String(claims['email']).replace(/^vera@acme.test$/i, email.toUpperCase()) }
    const rootUser = { userName: 'vera', userEmail: email, apiKeys: [], authenticators: [] }
    const { subOrganizationId, rootUserIds } = await complete(
      service.root,
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
      {
        subOrganizationName: 's',
        rootUsers: [{ ...rootUser, oauthProviders: [await provider(said, by && other)] }],
        rootQuorumThreshold: 1,
      },
    )
    expect(rootUserIds).toHaveLength(1)
    const found = await service.root.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue: email })
    expect(found.organizationIds).toEqual(verified ? [subOrganizationId] : [])
    const all = (await service.root.query('list_verified_suborgs')).organizationIds
    expect(all.includes(subOrganizationId)).toBe(verified)
  })
})

/** Changes one character of a part of a token. */
function altered(token: string, part: number): string {
  const parts = token.split('.')
  const text = parts[part]!
  const middle = Math.floor(text.length / 2)
  parts[part] = text.slice(0, middle) + (text[middle] === 'A' ? 'B' : 'A') + text.slice(middle + 1)
  return parts.join('.')
}

function unsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  return `${header}.${token.split('.')[1]}.`
}
