import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import type { ActivityType, JsonObject, Wire } from '../../../src/protocol/index.ts'
import { startTestService, type TestClient, type TestService } from '../harness.ts'
import { createPasskey } from '../passkey.ts'
import { complete, exhausted, fresh, invalid, makeUser, newKey, newUser, type Refusal, refusalOf } from './steps.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const V8 = 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'
const DELETE = 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION'
const ethereum = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
}

function rootUser(overrides: object = {}) {
  const { userTags: _, ...user } = newUser(overrides)
  return user
}

function intent(overrides: object = {}) {
  return { subOrganizationName: fresh('sub'), rootUsers: [rootUser()], rootQuorumThreshold: 1, ...overrides }
}

/** A sub-organization with one root user, and who speaks for it. */
async function makeSub(overrides: object = {}): Promise<{
  readonly made: Wire.CreateSubOrganizationResultV8
  readonly id: string
  readonly inside: TestClient
}> {
  const key = generateP256KeyPair()
  const user = rootUser({ apiKeys: [newKey({ publicKey: key.publicKey })] })
  const made = await complete(service.root, V8, intent({ rootUsers: [user], ...overrides }))
  return { made, id: made.subOrganizationId, inside: service.client(key.privateKey) }
}

describe('create_sub_organization', () => {
  test('create_sub_organization: it has its own users, quorum, wallet and login features', async () => {
    const [name, rootUsers] = [fresh('sub'), [rootUser(), rootUser({ userEmail: 'b@acme.test', apiKeys: [] })]]
    const wallet = { walletName: 'w', accounts: [ethereum] }
    const parameters = { subOrganizationName: name, rootUsers, rootQuorumThreshold: 2, wallet }
    const { subOrganizationId, rootUserIds, wallet: made } = await complete(service.root, V8, parameters)
    const { organizationData } = await service.root.query('get_organization', { organizationId: subOrganizationId })
    expect(organizationData.name).toBe(name)
    expect(organizationData.users?.map(({ userId }) => userId)).toEqual(rootUserIds)
    expect(organizationData.users?.map(({ userName }) => userName)).toEqual(rootUsers.map(({ userName }) => userName))
    expect(organizationData.rootQuorum).toEqual({ threshold: 2, userIds: rootUserIds })
    expect(organizationData.features?.map((feature) => feature.name)).toEqual([
      'FEATURE_NAME_EMAIL_AUTH',
      'FEATURE_NAME_EMAIL_RECOVERY',
      'FEATURE_NAME_OTP_EMAIL_AUTH',
      'FEATURE_NAME_SMS_AUTH',
    ])
    const { accounts } = await service.root.query('list_wallet_accounts', { organizationId: subOrganizationId })
    expect(accounts.map(({ walletId, address }) => [walletId, address])).toEqual([[made!.walletId, made!.addresses[0]]])
    expect((await service.root.query('list_wallets')).wallets).toEqual([])
  })

  test('create_sub_organization: login features can be left out, each by its switch', async () => {
    const off = { disableEmailRecovery: true, disableEmailAuth: true, disableOtpEmailAuth: true, disableSmsAuth: true }
    for (const [name, feature] of [
      ['disableEmailRecovery', 'FEATURE_NAME_EMAIL_RECOVERY'],
      ['disableEmailAuth', 'FEATURE_NAME_EMAIL_AUTH'],
      ['disableOtpEmailAuth', 'FEATURE_NAME_OTP_EMAIL_AUTH'],
      ['disableSmsAuth', 'FEATURE_NAME_SMS_AUTH'],
    ]) {
      const { id } = await makeSub({ ...off, [name!]: false })
      const { configs } = await service.root.query('get_organization_configs', { organizationId: id })
      expect(configs.features?.map((row) => row.name)).toEqual([feature])
    }
  })

  const older = (user: object = {}) => {
    const { userName } = rootUser()
    return {
      userName,
      apiKeys: [{ apiKeyName: 'k', publicKey: generateP256KeyPair().publicKey }],
      authenticators: [],
      ...user,
    }
  }
  test.each<{ version: string; parameters: () => object; result: JsonObject }>([
    {
      version: '',
      parameters: () => ({ name: 'first', rootAuthenticator: createPasskey().register() }),
      result: {},
    },
    { version: '_V2', parameters: () => intent({ rootUsers: [older()] }), result: {} },
    {
      version: '_V3',
      parameters: () => {
        const key = {
          privateKeyName: 'k',
          curve: 'CURVE_SECP256K1',
          privateKeyTags: [],
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
        }
        return intent({ rootUsers: [older()], privateKeys: [key] })
      },
      result: {
        privateKeys: [
          {
            privateKeyId: expect.any(String),
            addresses: [{ format: 'ADDRESS_FORMAT_ETHEREUM', address: expect.stringMatching(/^0x/) }],
          },
        ],
      },
    },
    { version: '_V4', parameters: () => intent({ rootUsers: [older()] }), result: {} },
    {
      version: '_V5',
      parameters: () =>
        intent({ rootUsers: [older({ oauthProviders: [] })], wallet: { walletName: 'w', accounts: [ethereum] } }),
      result: { wallet: { walletId: expect.any(String), addresses: [expect.stringMatching(/^0x/)] } },
    },
    { version: '_V6', parameters: () => intent(), result: {} },
    {
      version: '_V7',
      parameters: () => intent({ rootUsers: [rootUser({ userPhoneNumber: '+15551234567' })] }),
      result: {},
    },
    { version: '_V8', parameters: () => intent(), result: {} },
  ])(
    'create_sub_organization: version "$version" answers with its own result',
    async ({ version, parameters, result }) => {
      const type = `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION${version}` as ActivityType
      const activity = await service.root.submit(type, parameters())
      // The second version answers as the first does.
      const key = `createSubOrganizationResult${version === '_V2' ? '' : version.replace('_', '')}`
      const expected = { subOrganizationId: expect.any(String), rootUserIds: [expect.any(String)], ...result }
      expect(Object.keys(activity.result)).toEqual([key, 'activity'])
      expect((activity.result as unknown as JsonObject)[key]).toEqual(expected)
    },
  )

  test.each<{ name: string; parameters: () => object; expected: () => Refusal }>([
    {
      name: 'no root users',
      parameters: () => intent({ rootUsers: [] }),
      expected: () => invalid('invalid request body: field `rootUsers` must not be empty'),
    },
    {
      name: 'a threshold that nobody can reach',
      parameters: () => intent({ rootQuorumThreshold: 2 }),
      expected: () => invalid('quorum threshold 2 exceeds the number of quorum users 1'),
    },
    {
      name: 'a root user without a way in',
      parameters: () => intent({ rootUsers: [rootUser({ userName: 'nell', apiKeys: [] })] }),
      expected: () => invalid('user missing valid credential: nell'),
    },
    {
      name: 'a root user whose only way in is switched off',
      parameters: () =>
        intent({
          rootUsers: [rootUser({ userName: 'nell', userEmail: 'n@acme.test', apiKeys: [] })],
          disableEmailAuth: true,
          disableOtpEmailAuth: true,
        }),
      expected: () => invalid('user missing valid credential: nell'),
    },
    {
      name: 'a verification token that is none',
      parameters: () => intent({ verificationToken: 'x' }),
      expected: () => invalid('invalid verification token: it was not issued by this service'),
    },
    {
      name: 'a path that is none',
      parameters: () => intent({ wallet: { walletName: 'w', accounts: [{ ...ethereum, path: 'x' }] } }),
      expected: () => invalid('invalid path'),
    },
    {
      name: 'an OIDC token that does not verify',
      parameters: () => intent({ rootUsers: [rootUser({ oauthProviders: [{ providerName: 'p', oidcToken: 'x' }] })] }),
      expected: () => [400, 3, 'invalid OIDC token', 'INVALID_OIDC_TOKEN'],
    },
  ])('create_sub_organization: $name is refused, and nothing is made', async ({ parameters, expected }) => {
    const before = await service.root.query('list_suborgs', { paginationOptions: { limit: '100' } })
    expect(await refusalOf(service.root.submit(V8, parameters()))).toEqual(expected())
    expect(await service.root.query('list_suborgs', { paginationOptions: { limit: '100' } })).toEqual(before)
  })

  test('create_sub_organization: a sub-organization has none of its own', async () => {
    const { id, inside } = await makeSub()
    expect(await refusalOf(inside.submit(V8, intent(), { organizationId: id }))).toEqual(
      exhausted('organization has exceeded maximum sub-organizations (0)'),
    )
  })

  test('create_sub_organization: one without a name is called by its id', async () => {
    const { id } = await makeSub({ subOrganizationName: undefined })
    expect((await service.root.query('get_organization', { organizationId: id })).organizationData.name).toBe(id)
  })
})

describe('a parent', () => {
  test('a parent: its users read inside and cannot write inside', async () => {
    const { id, made } = await makeSub()
    const { users } = await service.root.query('list_users', { organizationId: id })
    expect(users.map(({ userId }) => userId)).toEqual(made.rootUserIds)
    const tag = { userTagName: 't', userIds: [] }
    const sent = service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag, { organizationId: id })
    expect(await refusalOf(sent)).toEqual([
      400,
      3,
      `organization mismatch: request is targeting organization ("${id}"), but voters are in organization ("${service.organizationId}")`,
      'ORGANIZATION_MISMATCH',
    ])
  })

  test('a parent: whoami with its id finds the sub-organization of a key, and two of them are too many', async () => {
    const { id, inside, made } = await makeSub()
    expect(await inside.query('whoami')).toMatchObject({ organizationId: id, userId: made.rootUserIds![0] })
    const twin = rootUser({ apiKeys: [newKey({ publicKey: inside.publicKey })] })
    await complete(service.root, V8, intent({ rootUsers: [twin] }))
    expect(await refusalOf(inside.query('whoami'))).toEqual([
      401,
      16,
      'more than one suborg associated with a public key',
      'CREDENTIAL_CONFLICT',
    ])
    expect(await inside.query('whoami', { organizationId: id })).toMatchObject({ organizationId: id })
  })

  test('a parent: a passkey of a sub-organization is found with its id, and the parent’s origins hold below', async () => {
    const passkey = createPasskey()
    const { id } = await makeSub({ rootUsers: [rootUser({ apiKeys: [], authenticators: [passkey.register()] })] })
    const text = JSON.stringify({ organizationId: service.organizationId })
    const ask = (stamp: string) =>
      service.root.raw('/public/v1/query/whoami', text, { 'x-stamp': '', 'x-stamp-webauthn': stamp })
    expect((await ask(passkey.stamp(text))).body).toMatchObject({ organizationId: id })
    const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.acme.test' }
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    expect((await ask(passkey.stamp(text))).status).toBe(200)
    expect((await ask(passkey.stamp(text, { origin: 'https://evil.test' }))).body).toMatchObject({
      code: 16,
      message: 'could not verify WebAuthN signature',
      turnkeyErrorCode: 'SIGNATURE_INVALID',
    })
    await complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: feature.name })
  })

  test('a parent: a sub-organization reads neither its parent nor its siblings', async () => {
    const [{ inside }, sibling] = [await makeSub(), await makeSub()]
    const expected = [
      401,
      16,
      expect.stringContaining('could not find public key in organization'),
      'PUBLIC_KEY_NOT_FOUND',
    ]
    expect(await refusalOf(inside.query('list_users', { organizationId: sibling.id }))).toEqual(expected)
    const { users } = await inside.query('list_users')
    expect(users).toHaveLength(1)
  })
})

describe('delete_sub_organization', () => {
  test('delete_sub_organization: nobody can use it any more, and it is listed no more', async () => {
    const { id, inside } = await makeSub({ wallet: { walletName: 'w', accounts: [ethereum] } })
    await complete(inside, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't', userIds: [] }, id)
    await complete(
      inside,
      'ACTIVITY_TYPE_CREATE_POLICY_V3',
      { policyName: 'p', effect: 'EFFECT_DENY', condition: 'false' },
      id,
    )
    await complete(
      inside,
      'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
      { privateKeys: [{ privateKeyName: 'k', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }] },
      id,
    )
    expect(await complete(inside, DELETE, { deleteWithoutExport: true }, id)).toEqual({ subOrganizationUuid: id })
    const gone: Refusal = [404, 5, 'no organization found with the given ID', 'ORGANIZATION_NOT_FOUND']
    expect(await refusalOf(service.root.query('list_users', { organizationId: id }))).toEqual(gone)
    expect(await refusalOf(inside.query('whoami', { organizationId: id }))).toEqual(gone)
    expect((await refusalOf(inside.query('whoami')))[3]).toBe('PUBLIC_KEY_NOT_FOUND')
    const { organizationIds } = await service.root.query('list_suborgs', { paginationOptions: { limit: '100' } })
    expect(organizationIds).not.toContain(id)
    // Its key is free again.
    const again = rootUser({ apiKeys: [newKey({ publicKey: inside.publicKey })] })
    const made = await complete(service.root, V8, intent({ rootUsers: [again] }))
    expect(await inside.query('whoami')).toMatchObject({ organizationId: made.subOrganizationId })
  })

  test.each<{ name: string; content: (inside: TestClient, id: string) => Promise<unknown> }>([
    {
      name: 'a wallet',
      content: (inside, id) => complete(inside, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts: [] }, id),
    },
    {
      name: 'a private key',
      content: (inside, id) =>
        complete(
          inside,
          'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
          { privateKeys: [{ privateKeyName: 'k', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }] },
          id,
        ),
    },
  ])(
    'delete_sub_organization: $name that was never exported keeps it, unless that is declined',
    async ({ content }) => {
      const { id, inside } = await makeSub()
      await content(inside, id)
      expect(await refusalOf(inside.submit(DELETE, {}, { organizationId: id }))).toEqual([
        400,
        3,
        'wallet account has not been exported',
        'WALLET_ACCOUNT_NOT_EXPORTED',
      ])
      await complete(inside, DELETE, { deleteWithoutExport: true }, id)
    },
  )

  test('delete_sub_organization: neither the parent nor a user who is not in the quorum may', async () => {
    const { id, inside } = await makeSub()
    expect((await refusalOf(service.root.submit(DELETE, {}, { organizationId: id })))[3]).toBe('ORGANIZATION_MISMATCH')
    const key = generateP256KeyPair()
    const users = [newUser({ apiKeys: [newKey({ publicKey: key.publicKey })] })]
    await complete(inside, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users }, id)
    const allowAll = { policyName: 'all', effect: 'EFFECT_ALLOW', consensus: 'true', condition: 'true' }
    await complete(inside, 'ACTIVITY_TYPE_CREATE_POLICY_V3', allowAll, id)
    const outside = service.client(key.privateKey)
    const refusal = await refusalOf(outside.submit(DELETE, {}, { organizationId: id }))
    expect(refusal).toEqual([403, 7, 'request not authorized', 'REQUEST_NOT_AUTHORIZED'])
    expect((await service.root.query('list_users', { organizationId: id })).users).toHaveLength(2)
  })

  test('delete_sub_organization: a parent is not one', async () => {
    expect(await refusalOf(service.root.submit(DELETE, {}))).toEqual(
      invalid(`organization ${service.organizationId} is not a sub-organization`),
    )
  })

  test('delete_sub_organization: while it waits for a second root user everything goes on', async () => {
    const [first, second] = [generateP256KeyPair(), generateP256KeyPair()]
    const rootUsers = [first, second].map(({ publicKey }) => rootUser({ apiKeys: [newKey({ publicKey })] }))
    const { subOrganizationId: organizationId } = await complete(
      service.root,
      V8,
      intent({ rootUsers, rootQuorumThreshold: 2 }),
    )
    const activity = await service.client(first.privateKey).submit(DELETE, {}, { organizationId })
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await service.root.query('list_users', { organizationId })).users).toHaveLength(2)
    const approved = await service.client(second.privateKey).approve(activity.fingerprint, { organizationId })
    expect(approved).toMatchObject({ id: activity.id, status: 'ACTIVITY_STATUS_COMPLETED' })
  })
})

describe('list_suborgs', () => {
  const list = async (filterType: string, filterValue: string) =>
    (await service.root.query('list_suborgs', { filterType, filterValue })).organizationIds

  test('list_suborgs: finds one by what it is and by what is in it, and exactly', async () => {
    const [key, passkey] = [newKey(), createPasskey()]
    const contacts = { userName: fresh('Una'), userEmail: 'Una@Acme.test', userPhoneNumber: '+15557654321' }
    const credentials = { apiKeys: [key], authenticators: [passkey.register()] }
    const name = fresh('findable')
    const made = await complete(
      service.root,
      V8,
      intent({
        subOrganizationName: name,
        rootUsers: [rootUser({ ...contacts, ...credentials })],
        wallet: { walletName: 'w', accounts: [ethereum] },
      }),
    )
    await makeSub()
    const id = made.subOrganizationId
    for (const [filterType, value, no] of [
      ['NAME', name, name.slice(1)],
      ['USERNAME', contacts.userName, contacts.userName.toLowerCase()],
      ['EMAIL', 'una@acme.TEST', 'na@acme.test'],
      ['PHONE_NUMBER', '+15557654321', '+1555765432'],
      ['PUBLIC_KEY', key.publicKey.toUpperCase(), key.publicKey.slice(2)],
      ['CREDENTIAL_ID', passkey.credentialId, passkey.credentialId.slice(1)],
      ['WALLET_ACCOUNT_ADDRESS', made.wallet!.addresses[0]!, '0x00'],
    ] as const) {
      expect([filterType, await list(filterType, value)]).toEqual([filterType, [id]])
      expect([filterType, await list(filterType, no)]).toEqual([filterType, []])
    }
    await makeUser(service.root, { userEmail: 'parent@acme.test' })
    expect(await list('EMAIL', 'parent@acme.test')).toEqual([])
    expect(
      (await service.root.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue: 'una@acme.test' }))
        .organizationIds,
    ).toEqual([])
  })

  test('list_suborgs: pages newest first, by the ids of what was read last', async () => {
    const made = [await makeSub(), await makeSub(), await makeSub()].map(({ id }) => id).reverse()
    const page = async (paginationOptions: object) =>
      (await service.root.query('list_suborgs', { paginationOptions })).organizationIds
    expect(await page({ limit: '3' })).toEqual(made)
    expect(await page({ limit: '1', before: made[0] })).toEqual([made[1]])
    expect(await page({ limit: '1', after: made[2] })).toEqual([made[1]])
    expect(await page({ after: made[0] })).toEqual([])
  })

  test.each<{ name: string; request: () => object; expected: () => Refusal }>([
    {
      name: 'an unknown filter',
      request: () => ({ filterType: 'COLOUR', filterValue: 'x' }),
      expected: () =>
        invalid(
          'invalid request body: field `filterType` must be one of CREDENTIAL_ID, NAME, USERNAME, EMAIL, PHONE_NUMBER, PUBLIC_KEY, WALLET_ACCOUNT_ADDRESS, OIDC_TOKEN, OIDC_CLAIMS',
        ),
    },
    {
      name: 'a filter without a value',
      request: () => ({ filterType: 'NAME' }),
      expected: () => invalid('invalid request body: missing field `filterValue`'),
    },
    {
      name: 'claims that are none',
      request: () => ({ filterType: 'OIDC_CLAIMS', filterValue: '{"iss":"x"}' }),
      expected: () =>
        invalid('invalid request body: field `filterValue` must be a JSON object with the texts iss, aud and sub'),
    },
    {
      name: 'an OIDC token that does not verify',
      request: () => ({ filterType: 'OIDC_TOKEN', filterValue: 'x' }),
      expected: () => [400, 3, 'invalid OIDC token', 'INVALID_OIDC_TOKEN'],
    },
    {
      name: 'a cursor that is none of its own',
      request: () => ({ paginationOptions: { before: service.organizationId } }),
      expected: () =>
        invalid(
          `invalid request body: field \`paginationOptions\` names no object of this list: \`${service.organizationId}\``,
        ),
    },
  ])('list_suborgs: $name is refused', async ({ request, expected }) => {
    expect(await refusalOf(service.root.query('list_suborgs', request()))).toEqual(expected())
  })
})
