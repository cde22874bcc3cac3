import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { complete } from '../handlers/steps.ts'
import { newSignUp, type ProxyStage, said, startProxyStage } from './stage.ts'

let stage: ProxyStage
beforeAll(async () => {
  stage = await startProxyStage()
})
afterAll(() => stage.close())

const usersOf = async (organizationId: unknown) => (await stage.root.query('list_users', { organizationId })).users
const account = (filterType: string, filterValue: string) => stage.post('account', { filterType, filterValue })

describe('proxy: sign-up', () => {
  test('proxy: sign-up: it makes a sub-organization of one root user, whose key then signs', async () => {
    const key = generateP256KeyPair()
    const apiKeys = [{ apiKeyName: 'mine', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
    const { status, body } = await stage.post('signup_v2', newSignUp({ apiKeys }))
    expect([status, Object.keys(body)]).toEqual([200, ['organizationId', 'userId']])
    const { organizationId, userId } = body as { organizationId: string; userId: string }
    const whoami = await stage.client(key.privateKey).query('whoami', { organizationId })
    expect(whoami).toEqual({ organizationId, organizationName: 'home', userId, username: 'ada' })
    expect((await account('PUBLIC_KEY', key.publicKey)).body).toEqual({ organizationId })
    expect((await account('NAME', 'home')).body).toEqual({ organizationId })
    const { configs } = await stage.root.query('get_organization_configs', { organizationId })
    expect(configs!.quorum).toEqual({ threshold: 1, userIds: [userId] })
  })

  test('proxy: sign-up: both versions, snake case, and names that are left out', async () => {
    const { publicKey } = generateP256KeyPair()
    const body = {
      api_keys: [{ api_key_name: 'k', public_key: publicKey, curve_type: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauth_providers: [],
    }
    const { body: made } = await stage.post('signup', body)
    const [user] = await usersOf(made['organizationId'])
    expect(user!.userName).toMatch(/^user-\d+$/)
  })

  test('proxy: sign-up: a wallet in its short form gets the address of its curve', async () => {
    for (const [curve, path, format] of [
      ['CURVE_TYPE_ED25519', "m/44'/501'/0'/0'", /^[1-9A-HJ-NP-Za-km-z]{32,44}$/],
      ['CURVE_SECP256K1', "m/44'/60'/0'/0/0", /^0x[0-9a-fA-F]{40}$/],
    ] as const) {
      const { status, body } = await stage.post('signup', newSignUp({ wallet: { path, curve } }))
      expect(status).toBe(200)
      const { walletId, addresses } = body['wallet'] as unknown as { walletId: string; addresses: string[] }
      expect(addresses).toEqual([expect.stringMatching(format)])
      const { wallets } = await stage.root.query('list_wallets', { organizationId: body['organizationId'] })
      expect(wallets.map((each) => [each.walletId, each.walletName])).toEqual([[walletId, 'Default Wallet']])
    }
  })

  test('proxy: sign-up: a wallet in its long form is made as it is asked for', async () => {
    const accounts = [
      {
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: "m/44'/60'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      },
    ]
    const { body } = await stage.post('signup_v2', newSignUp({ wallet: { walletName: 'main', accounts } }))
    const { wallets } = await stage.root.query('list_wallets', { organizationId: body['organizationId'] })
    expect(wallets.map(({ walletName }) => walletName)).toEqual(['main'])
  })

  const unproven = (field: string) =>
    `invalid request body: field \`${field}\` needs a \`verificationToken\` for it, or an OIDC token that has it as verified e-mail and was issued to a client id in \`walletKitSettings.oauthClientIds\` or \`socialLinkingClientIds\``
  const unsigned = (claims: object) =>
    ['{"alg":"none"}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')
  test.each([
    { name: 'an unproven e-mail', given: { userEmail: 'ada@acme.test' }, expected: [400, 3, unproven('userEmail')] },
    {
      name: 'an unproven number',
      given: { userPhoneNumber: '+15551234567' },
      expected: [400, 3, unproven('userPhoneNumber')],
    },
    {
      name: 'a made-up token',
      given: { userEmail: 'ada@acme.test', verificationToken: unsigned({ contact: 'ada@acme.test' }) },
      expected: [400, 3, 'invalid verification token: it was not issued by this service'],
    },
    {
      name: 'a tag',
      given: { userTag: 'vip' },
      expected: [400, 3, 'invalid request body: field `userTag` cannot be given: a new sub-organization has no tags'],
    },
    {
      name: 'a wallet of no curve',
      given: { wallet: { path: 'm/0', curve: 'CURVE_TYPE_MORSE' } },
      expected: [
        400,
        3,
        'invalid request body: field `wallet.curve` must be one of CURVE_SECP256K1, CURVE_ED25519, CURVE_P256',
      ],
    },
    {
      name: 'nobody',
      given: { apiKeys: [] },
      expected: [400, 3, expect.any(String)],
    },
    {
      name: 'an unsigned OIDC token',
      given: {
        userEmail: 'ada@acme.test',
        oauthProviders: [
          {
            providerName: 'g',
            oidcToken: unsigned({
              iss: 'https://issuer.test',
              aud: 'a',
              sub: 's',
              email: 'ada@acme.test',
              email_verified: true,
            }),
          },
        ],
      },
      expected: [403, 7, 'OAUTH disallowed'],
    },
  ])('proxy: sign-up: $name is refused, and nothing is made', async ({ given, expected }) => {
    const before = await stage.root.query('list_suborgs')
    expect(said(await stage.post('signup_v2', newSignUp(given)))).toEqual(expected)
    expect(await stage.root.query('list_suborgs')).toEqual(before)
  })

  test('proxy: sign-up: an issuer that nobody has named proves no address', async () => {
    await stage.set({ allowedAuthMethods: ['oauth'] })
    const claims = { iss: 'https://issuer.test', aud: 'a', sub: 's', email: 'ada@acme.test', email_verified: true }
    const given = { userEmail: 'ada@acme.test', oauthProviders: [{ providerName: 'g', oidcToken: unsigned(claims) }] }
    expect(said(await stage.post('signup_v2', newSignUp(given)))).toEqual(
      said(await stage.post('signup_v2', newSignUp({ userEmail: 'ada@acme.test' }))),
    )
    await stage.set({ allowedAuthMethods: [] })
  })

  test('proxy: sign-up: ways in that are not offered are refused', async () => {
    await stage.set({ allowedAuthMethods: ['email'] })
    const wallet = [{ apiKeyName: 'wallet-auth', publicKey: '11'.repeat(32), curveType: 'API_KEY_CURVE_ED25519' }]
    const attestation = { credentialId: 'x', clientDataJson: 'x', attestationObject: 'x', transports: [] }
    const authenticators = [{ authenticatorName: 'p', challenge: 'c', attestation }]
    for (const given of [{ apiKeys: wallet }, { authenticators }]) {
      expect(said(await stage.post('signup_v2', newSignUp(given)))).toEqual([403, 7, 'auth method not enabled'])
    }
    await stage.set({ allowedAuthMethods: [] })
  })

  test('proxy: sign-up: a policy of the organization that denies it is passed through', async () => {
    const policy = {
      policyName: 'closed',
      effect: 'EFFECT_DENY',
      condition: "activity.resource == 'ORGANIZATION'",
      notes: '',
    }
    const { policyId } = await complete(stage.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
    const { status, body } = await stage.post('signup_v2', newSignUp())
    expect([status, body['code'], body['message']]).toEqual([403, 7, expect.stringContaining('permission')])
    await complete(stage.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  })

  test("proxy: sign-up: an IP allow-list of the organization does not judge the proxy's requests", async () => {
    const rules = [{ cidr: '127.0.0.1/32' }]
    await complete(stage.root, 'ACTIVITY_TYPE_SET_IP_ALLOWLIST', { rules, enabled: true })
    expect((await stage.post('signup_v2', newSignUp())).status).toBe(200)
    await complete(stage.root, 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST', {})
  })
})

describe('proxy: account', () => {
  test('proxy: account: nobody is an empty answer', async () => {
    expect((await account('EMAIL', 'nobody@acme.test')).body).toEqual({})
    expect((await account('OIDC_CLAIMS', '{"iss":"https://i.test","sub":"s","aud":"a"}')).body).toEqual({})
  })

  test('proxy: account: there are eight filters', async () => {
    const message =
      'invalid request body: field `filterType` must be one of CREDENTIAL_ID, NAME, USERNAME, EMAIL, PHONE_NUMBER, OIDC_TOKEN, OIDC_CLAIMS, PUBLIC_KEY'
    expect(said(await account('WALLET_ACCOUNT_ADDRESS', 'x'))).toEqual([400, 3, message])
  })

  test('proxy: account: contacts take a proof where the settings ask for one', async () => {
    await stage.set({ verificationTokenRequiredForGetAccountPii: true })
    const refused = [400, 3, 'a verification token is required to look up an account by contact']
    expect(said(await account('EMAIL', 'ada@acme.test'))).toEqual(refused)
    expect(said(await account('PHONE_NUMBER', '+15551234567'))).toEqual(refused)
    expect((await account('NAME', 'no such')).status).toBe(200)
    await stage.set({ verificationTokenRequiredForGetAccountPii: false })
  })
})
