/**
 * Two apps on one service, each a parent with users and an authentication proxy of its own, and one person who uses both: what one
 * app or its users have gives no account at the other, and no account in this person's name. Each row is refused with its error, and
 * of everything that the service keeps nothing is changed by it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { complete, fresh, refusalOf } from '../service/handlers/steps.ts'
import type { TestClient } from '../service/harness.ts'
import { attestedStamp } from '../service/login/stage.ts'
import { type HostileIssuers, startHostileIssuers } from '../service/oauth/hostile-issuer.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import { loginBy, prove } from '../service/one-time-passcodes/outbox.ts'
import { createPasskey } from '../service/passkey.ts'
import { newSignUp, type ProxyAnswer, type ProxyStage, startProxyStage } from '../service/proxy/stage.ts'
import { stealProxyKey } from '../service/proxy-key.ts'
import { type AbuseRow, abuseRows } from './abuse-table.ts'

const LOGIN = 'ACTIVITY_TYPE_OAUTH_LOGIN'
const VICTIM = 'vera@acme.test'
const SUBJECT = 'google-vera'
const SECRET = 'an enrolment secret that nobody guesses'
const WAYS = ['google', 'email', 'oauth']

let issuers: HostileIssuers
/** The app that is attacked: its client ids at Google are `web` and `ios`. */
let stage: ProxyStage
/** Another app, whose client id is `other`; and its proxy. */
let other: { readonly organizationId: string; readonly client: TestClient }
let otherConfigId: string
/** The home that the person has at the other app, whose token they have given to it. */
let atOther: { readonly organizationId: string }
beforeAll(async () => {
  issuers = await startHostileIssuers()
  stage = await startProxyStage({
    providerUrls: { google: `${issuers.url}/honest` },
    enrolmentSecret: new Secret(SECRET),
  })
  other = await makeParent()
  await complete(other.client, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {}, other.organizationId)
  const settings = { walletKitSettings: { oauthClientIds: { google: 'other' } }, allowedAuthMethods: WAYS }
  otherConfigId = (
    await complete(other.client, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', settings, other.organizationId)
  ).configId!
  await stage.set({
    walletKitSettings: { oauthClientIds: { google: 'web' } },
    socialLinkingClientIds: ['ios'],
    allowedAuthMethods: WAYS,
    verificationTokenRequiredForGetAccountPii: true,
  })
  atOther = { organizationId: await signUp({ aud: 'other' }, { 'x-auth-proxy-config-id': otherConfigId }) }
})
afterAll(async () => {
  await stage?.close()
  await issuers?.close()
})

/** Another parent, whose root user has a key. */
async function makeParent() {
  const [passkey, key, organizationId] = [createPasskey(), generateP256KeyPair(), crypto.randomUUID()]
  const send = async (type: ActivityType, parameters: object) => {
    const { path, text } = stage.body(type, parameters, { organizationId })
    const headers = { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text), 'x-enrolment-secret': SECRET }
    expect(await stage.root.raw(path, text, headers)).toMatchObject({ status: 200 })
  }
  const userId = crypto.randomUUID()
  const root = { rootUserId: userId, rootEmail: 'root@other.test', rootAuthenticator: passkey.register() }
  await send('ACTIVITY_TYPE_CREATE_ORGANIZATION_V2', { organizationName: 'other', ...root })
  const apiKeys = [{ apiKeyName: 'k', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  await send('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys })
  return { organizationId, client: stage.client(key.privateKey) }
}

/** A token of Google's for the person, of whatever app. */
const tokenOf = (claims: object = {}) =>
  issuers.sign({ sub: SUBJECT, aud: 'web', email: VICTIM, email_verified: true, ...claims })

/** What somebody signs up with who brings a token, with a key of their own. */
async function signUpWith(claims: object, key = generateP256KeyPair()) {
  const oauthProviders = [{ providerName: 'Google', oidcToken: await tokenOf(claims) }]
  const apiKeys = [{ apiKeyName: 'k', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  return { ...newSignUp({ oauthProviders, apiKeys }), userEmail: VICTIM }
}

async function signUp(claims: object, headers = {}): Promise<string> {
  const { status, body } = await stage.post('signup_v2', await signUpWith(claims), headers)
  expect([status, body['message']]).toEqual([200, undefined])
  return String(body['organizationId'])
}

const verified = async (filterValue = VICTIM) =>
  (await stage.root.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue })).organizationIds

type Row = AbuseRow<ProxyAnswer>
const unproved = 'was issued to a client id in `walletKitSettings.oauthClientIds` or `socialLinkingClientIds`'
const signsUp = (name: string, claims: object): Row => [
  `a sign-up in the name of the bearer of a token ${name}`,
  async () => stage.post('signup_v2', await signUpWith(claims)),
  400,
  unproved,
]

const rows: readonly Row[] = [
  signsUp('of another app', { aud: 'other' }),
  signsUp('of an app whose client id differs in case', { aud: 'WEB' }),
  signsUp('of another app that names this one too', { aud: ['other', 'web'] }),
  signsUp('of another app, for which this one is the party', { aud: ['other', 'third'], azp: 'web' }),
  signsUp('of another app for this one', { aud: ['web', 'other'], azp: 'other' }),
  [
    'the account of an address, by a token of another app',
    async () => {
      const oidcToken = await tokenOf({ aud: 'other' })
      return stage.post('account', { filterType: 'EMAIL', filterValue: VICTIM, oidcToken })
    },
    400,
    'a verification token is required',
  ],
  [
    'a login at this proxy into a home of the other app, by a token that is good there',
    async () => {
      const { publicKey } = generateP256KeyPair()
      const oidcToken = await tokenOf({ aud: 'other', nonce: nonceOf(publicKey) })
      return stage.post('oauth_login', { oidcToken, publicKey, organizationId: atOther.organizationId })
    },
    401,
    '',
  ],
  [
    'a login at this proxy by a token that is good at the other app',
    async () => {
      const { publicKey } = generateP256KeyPair()
      return stage.post('oauth_login', {
        publicKey,
        oidcToken: await tokenOf({ aud: 'other', nonce: nonceOf(publicKey) }),
      })
    },
    404,
    'no account found',
  ],
]

const abuse = abuseRows('organizations', () => stage.dataDir)

describe('abuse across organizations', () => {
  abuse.try(rows)

  test('a look-up here finds no home of the other app, by whatever it is asked for', async () => {
    const { apiKeys } = await other.client.query('get_api_keys', { organizationId: atOther.organizationId })
    const claims = JSON.stringify({ iss: `${issuers.url}/honest`, sub: SUBJECT, aud: 'other' })
    for (const [filterType, filterValue] of [
      ['OIDC_TOKEN', await tokenOf({ aud: 'other' })],
      ['OIDC_CLAIMS', claims],
      ['PUBLIC_KEY', apiKeys[0]!.credential.publicKey],
      ['NAME', 'home'],
      ['USERNAME', 'ada'],
    ] as const) {
      const here = await stage.post('account', { filterType, filterValue })
      expect([filterType, here.status, here.body]).toEqual([filterType, 200, {}])
      const there = await stage.post(
        'account',
        { filterType, filterValue },
        { 'x-auth-proxy-config-id': otherConfigId },
      )
      expect([filterType, there.body['organizationId']]).toEqual([filterType, atOther.organizationId])
      expect((await stage.root.query('list_suborgs', { filterType, filterValue })).organizationIds).toEqual([])
    }
  })

  test.each([
    ['web', 'web'],
    ['ios', 'ios'],
    ['several, of which it is the party', ['other', 'web'], 'web'],
  ] as const)('a token of an app of this organization, for %s, proves its address', async (_, aud, azp?: string) => {
    const organizationId = await signUp({ aud, azp, sub: fresh('own'), email: VICTIM })
    expect((await verified())[0]).toBe(organizationId)
  })

  test('a user who takes another’s address has not proved it by a token of another app', async () => {
    const eve = generateP256KeyPair()
    const { userEmail: _, ...withoutAddress } = await signUpWith({ sub: fresh('eve'), email: 'eve@acme.test' }, eve)
    const { organizationId, userId } = (await stage.post('signup_v2', withoutAddress)).body as Record<string, string>
    const client = stage.client(eve.privateKey)
    const email = 'new@acme.test'
    await complete(client, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId, userEmail: email }, organizationId)
    const add = async (claims: object) => {
      const oauthProviders = [{ providerName: fresh('g'), oidcToken: await tokenOf({ email, ...claims }) }]
      await complete(client, 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2', { userId, oauthProviders }, organizationId)
    }
    await add({ aud: 'other' })
    expect(await verified(email)).toEqual([])
    // The same of this app's own does prove it.
    await add({ aud: 'ios' })
    expect(await verified(email)).toEqual([organizationId])
  })

  describe.each([
    ['by default', false],
    ['where the parent asks for proofs', true],
  ])('an address that somebody else has written down first, %s', (_, verificationTokenRequiredForGetAccountPii) => {
    beforeAll(() => stage.set({ verificationTokenRequiredForGetAccountPii }))
    afterAll(() => stage.set({ verificationTokenRequiredForGetAccountPii: true }))

    /** Somebody with an account and no address. */
    async function makeEve() {
      const key = generateP256KeyPair()
      const { userEmail: _, ...withoutAddress } = await signUpWith({ sub: fresh('eve'), email: 'eve@acme.test' }, key)
      const { organizationId, userId } = (await stage.post('signup_v2', withoutAddress)).body as Record<string, string>
      return { client: stage.client(key.privateKey), organizationId: organizationId!, userId: userId! }
    }
    /** What somebody may have signed up with whose request the proxy has not seen: who has stolen its key checks nothing. */
    const withAddress = (userEmail: string) => ({
      subOrganizationName: 'home',
      rootUsers: [
        {
          ...{ userName: 'eve', userEmail, authenticators: [], oauthProviders: [] },
          apiKeys: [{ apiKeyName: 'k', publicKey: generateP256KeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
        },
      ],
      rootQuorumThreshold: 1,
    })
    const make = async (client: TestClient, userEmail: string) =>
      (await complete(client, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', withAddress(userEmail))).subOrganizationId!
    const codeTo = (contact: string) => prove(stage, { otpType: 'OTP_TYPE_EMAIL', contact, appName: 'x' })

    /** Where a person who has a code for the address gets to: by the account, by a login, by an attested stamp. */
    async function waysOf(contact: string) {
      const looked = await codeTo(contact)
      const asked = { filterType: 'EMAIL', filterValue: contact, verificationToken: looked.token }
      const { body } = await stage.post('account', asked)
      const { path, text } = stage.body('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: generateP256KeyPair().publicKey })
      const stamped = {
        'x-stamp': '',
        'x-stamp-attested': attestedStamp(text, looked.token, looked.key, 'VERIFICATION_TOKEN'),
      }
      const attested = await stage.root.raw(path, text, stamped)
      const login = await stage.post('otp_login_v2', loginBy(await codeTo(contact), generateP256KeyPair().publicKey))
      return [body, [login.status, login.body['message']], [attested.status, attested.body['message']]]
    }
    const NOWHERE = [
      {},
      [404, 'no account found'],
      [401, expect.stringContaining('attested identity could not be found')],
    ]
    const written: Readonly<Record<string, (contact: string) => Promise<unknown>>> = {
      'in their own record': async (userEmail) => {
        const { client, organizationId, userId } = await makeEve()
        return complete(client, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId, userEmail }, organizationId)
      },
      'by the older activity': async (userEmail) => {
        const { client, organizationId, userId } = await makeEve()
        return complete(client, 'ACTIVITY_TYPE_UPDATE_USER', { userId, userEmail }, organizationId)
      },
      'in that of another user, whom they make': async (userEmail) => {
        const { client, organizationId } = await makeEve()
        const user = { userName: 'zoe', userEmail, apiKeys: [], authenticators: [], userTags: [], oauthProviders: [] }
        return complete(client, 'ACTIVITY_TYPE_CREATE_USERS_V3', { users: [user] }, organizationId)
      },
      'with the proxy’s key, which they have stolen': async (userEmail) => make(await stealProxyKey(stage), userEmail),
    }
    test.each(Object.entries(written))('%s leads nobody there who proves it', async (_, write) => {
      const contact = `${fresh('zoe')}@acme.test`
      await write(contact)
      expect(await waysOf(contact)).toEqual(NOWHERE)
    })

    test('is no obstacle for whom the parent has given it to, who is found unless proofs are asked for', async () => {
      const contact = `${fresh('yves')}@acme.test`
      await written['in their own record']!(contact)
      const organizationId = await make(stage.root, contact.toUpperCase())
      await written['in that of another user, whom they make']!(contact)
      const asked = { filterType: 'EMAIL', filterValue: contact, verificationToken: (await codeTo(contact)).token }
      expect((await stage.post('account', asked)).body).toEqual(
        verificationTokenRequiredForGetAccountPii ? {} : { organizationId },
      )
      // Given is not proved.
      expect(await verified(contact)).toEqual([])
    })

    test('is theirs who prove it once, where they say which account is', async () => {
      const contact = `${fresh('xenia')}@acme.test`
      const { client, organizationId, userId } = await makeEve()
      await complete(client, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId, userEmail: contact }, organizationId)
      const login = loginBy(await codeTo(contact), generateP256KeyPair().publicKey)
      expect((await stage.post('otp_login_v2', { ...login, organizationId })).status).toBe(200)
      const asked = { filterType: 'EMAIL', filterValue: contact, verificationToken: (await codeTo(contact)).token }
      expect((await stage.post('account', asked)).body).toEqual({ organizationId })
    })
  })

  test('one person is somebody else at each app: a token logs in where its app is, whoever else has the subject', async () => {
    const key = generateP256KeyPair()
    const oidcToken = await tokenOf({ aud: 'other', nonce: nonceOf(key.publicKey) })
    const parameters = { oidcToken, publicKey: key.publicKey }
    // The parent of one app does not submit into a home of the other.
    expect((await refusalOf(stage.root.submit(LOGIN, parameters, atOther)))[0]).toBe(401)
    await complete(other.client, LOGIN, parameters, atOther.organizationId)
    expect(await stage.client(key.privateKey).query('whoami', atOther)).toMatchObject(atOther)
    const here = { organizationId: await signUp({ sub: fresh('again'), email: VICTIM }) }
    expect((await refusalOf(stage.root.submit(LOGIN, parameters, here)))[0]).toBe(404)
  })
  abuse.record()
})
