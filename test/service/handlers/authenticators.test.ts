import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/crypto/index.ts'
import { encodeBase64Url, encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import type { ActivityType } from '../../../src/protocol/index.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { asBrowserGave, createPasskey, type Passkey, type RegistrationOverrides } from '../passkey.ts'
import { complete, exhausted, invalid, makeUser, NOBODY, newUser, type Refusal, refusalOf, taken } from './steps.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const V2 = 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2'
const gone: Refusal = [
  404,
  5,
  'webauthn authenticator not found in organization or parent organization',
  'CREDENTIAL_NOT_FOUND',
]

async function register(userId: string, passkey: Passkey, overrides?: RegistrationOverrides): Promise<string> {
  const authenticators = [passkey.register(overrides)]
  const { authenticatorIds } = await complete(service.root, V2, { userId, authenticators })
  return authenticatorIds[0]!
}

describe('create_authenticators', () => {
  test('create_authenticators: a passkey is listed as the API writes it', async () => {
    const userId = await makeUser(service.root)
    const passkey = createPasskey()
    const authenticatorId = await register(userId, passkey)
    const { authenticator } = await service.root.query('get_authenticator', { authenticatorId })
    expect(authenticator).toEqual({
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
      attestationType: 'none',
      aaguid: encodeBase64Url(new Uint8Array(16)),
      credentialId: passkey.credentialId,
      model: 'Security key',
      credential: { publicKey: passkey.publicKey, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
      authenticatorId,
      authenticatorName: expect.any(String),
      createdAt: expect.anything(),
      updatedAt: expect.anything(),
    })
    expect((await service.root.query('get_authenticators', { userId })).authenticators).toEqual([authenticator])
    expect((await service.root.query('get_user', { userId })).user.authenticators).toEqual([authenticator])
  })

  test('create_authenticators: the first version takes what the browser gave', async () => {
    const userId = await makeUser(service.root)
    const passkey = createPasskey('RS256')
    const authenticators = [asBrowserGave(passkey.register(), userId)]
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS', { userId, authenticators })
    const { authenticators: listed } = await service.root.query('get_authenticators', { userId })
    expect(listed.map(({ credentialId, transports }) => [credentialId, transports])).toEqual([
      [passkey.credentialId, []],
    ])
  })

  test('create_authenticators: a user may be made with a passkey alone, and may register one more', async () => {
    const passkey = createPasskey()
    const userId = await makeUser(service.root, { apiKeys: [], authenticators: [passkey.register()] })
    const text = service.body(V2, { userId, authenticators: [createPasskey().register()] }).text
    const headers = { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text) }
    const answer = await service.root.raw('/public/v1/submit/create_authenticators', text, headers)
    expect(answer.body).toMatchObject({ activity: { status: 'ACTIVITY_STATUS_COMPLETED' } })
    expect((await service.root.query('get_authenticators', { userId })).authenticators).toHaveLength(2)
  })

  const text = 'a challenge that is a text, as mobile clients send it'
  test.each<{ name: string; overrides: RegistrationOverrides }>([
    {
      name: 'the challenge is the text whose bytes were signed',
      overrides: { challenge: text, client: { challenge: encodeBase64Url(encodeUtf8(text)) } },
    },
    {
      name: 'the challenge is 64 hex characters',
      overrides: {
        challenge: encodeHex(sha256('x')),
        client: { challenge: encodeBase64Url(encodeUtf8(encodeHex(sha256('x')))) },
      },
    },
    { name: 'the challenge is standard base64', overrides: { challenge: '+/+/', client: { challenge: '-_-_' } } },
    { name: 'the statement is of another format', overrides: { format: 'packed' } },
    { name: 'the user was verified', overrides: { flags: 0x45 } },
    { name: 'extensions follow the key', overrides: { flags: 0xc1, more: Uint8Array.of(0xa0) } },
    { name: 'no transports are told', overrides: { attestation: { transports: [] } } },
  ])('create_authenticators: taken where $name', async ({ overrides }) => {
    await register(service.rootUserId, createPasskey(), overrides)
    const { authenticators } = await service.root.query('get_authenticators', { userId: service.rootUserId })
    const { authenticatorId, attestationType } = authenticators.at(-1)!
    expect(attestationType).toBe(overrides.format ?? 'none')
    // The root user may have ten.
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS', {
      userId: service.rootUserId,
      authenticatorIds: [authenticatorId],
    })
  })

  const refused = () => invalid('invalid authenticator attestation')
  test.each<{ name: string; overrides: RegistrationOverrides; expected?: () => Refusal }>([
    { name: 'another challenge', overrides: { client: { challenge: 'AAAA' } } },
    { name: 'an empty challenge in the client data', overrides: { client: { challenge: '' } } },
    { name: 'an assertion', overrides: { client: { type: 'webauthn.get' } } },
    { name: 'no origin', overrides: { client: { origin: undefined } } },
    { name: 'nobody present', overrides: { flags: 0x40 } },
    { name: 'no credential', overrides: { flags: 0x01 } },
    { name: 'a backup of what cannot be backed up', overrides: { flags: 0x51 } },
    { name: 'bytes after the key', overrides: { more: Uint8Array.of(0) } },
    { name: 'announced extensions that are missing', overrides: { flags: 0xc1 } },
    { name: 'the id of another credential', overrides: { attestation: { credentialId: 'AAAA' } } },
    { name: 'an object that is no CBOR', overrides: { attestation: { attestationObject: 'AAAA' } } },
    { name: 'an object that is no base64', overrides: { attestation: { attestationObject: '?' } } },
    { name: 'client data that is no JSON', overrides: { attestation: { clientDataJson: 'AAAA' } } },
    {
      name: 'an object without authenticator data',
      overrides: { attestation: { attestationObject: encodeBase64Url(Uint8Array.of(0xa0)) } },
      expected: () => invalid('missing parameter: user authenticator attestation auth data'),
    },
  ])('create_authenticators: refused with $name', async ({ overrides, expected = refused }) => {
    const userId = service.rootUserId
    const authenticators = [createPasskey().register(overrides)]
    expect(await refusalOf(service.root.submit(V2, { userId, authenticators }))).toEqual(expected())
  })

  test('create_authenticators: an algorithm other than ES256 and RS256 is refused', async () => {
    const parameters = { userId: service.rootUserId, authenticators: [createPasskey('EdDSA').register()] }
    expect(await refusalOf(service.root.submit(V2, parameters))).toEqual(refused())
  })

  test('create_authenticators: where origins are listed, another one is refused', async () => {
    const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.acme.test' }
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    const userId = await makeUser(service.root)
    await register(userId, createPasskey())
    const elsewhere = { userId, authenticators: [createPasskey('ES256', 'evil.test').register()] }
    expect(await refusalOf(service.root.submit(V2, elsewhere))).toEqual(refused())
    await complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: feature.name })
    await complete(service.root, V2, elsewhere)
  })

  test('update_allowed_origins: an origin of the list or of the feature is taken, another is refused, * takes the list away', async () => {
    const { root } = service
    const from = async (host: string) => {
      const userId = await makeUser(root)
      return root.submit(V2, { userId, authenticators: [createPasskey('ES256', host).register()] })
    }
    const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://feature.test' }
    await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    const allowedOrigins = ['https://one.test', 'https://two.test']
    expect(await complete(root, 'ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS', { allowedOrigins })).toEqual({})
    for (const host of ['one.test', 'two.test', 'feature.test']) await from(host)
    expect(await refusalOf(from('evil.test'))).toEqual(refused())
    await complete(root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: feature.name })
    expect(await refusalOf(from('feature.test'))).toEqual(refused())
    for (const bad of [['https://one.test/'], ['*', 'https://one.test'], ['https://one.test', 'https://one.test'], []])
      expect((await refusalOf(root.submit('ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS', { allowedOrigins: bad })))[0]).toBe(
        400,
      )
    await complete(root, 'ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS', { allowedOrigins: ['*'] })
    await from('evil.test')
  })

  test('create_authenticators: one credential is registered once', async () => {
    const passkey = createPasskey()
    await register(await makeUser(service.root), passkey)
    const again = { userId: await makeUser(service.root), authenticators: [passkey.register()] }
    const expected = taken(
      `authenticator with credential ID ${passkey.credentialId} already exists in this organization`,
    )
    expect(await refusalOf(service.root.submit(V2, again))).toEqual(expected)
    const inUser = { users: [newUser({ authenticators: [passkey.register()] })] }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V4', inUser))).toEqual(expected)
  })

  test('create_authenticators: a user has ten at most', async () => {
    const userId = await makeUser(service.root)
    const ten = Array.from({ length: 10 }, () => createPasskey().register())
    await complete(service.root, V2, { userId, authenticators: ten })
    const one = { userId, authenticators: [createPasskey().register()] }
    expect(await refusalOf(service.root.submit(V2, one))).toEqual(exhausted('user has exceeded maximum authenticators'))
  })
})

describe('delete_authenticators', () => {
  const TYPE: ActivityType = 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS'

  test('delete_authenticators: a deleted passkey stamps nothing any more', async () => {
    const { userId } = await createTestUser(service, 'with-both')
    const passkey = createPasskey()
    const authenticatorIds = [await register(userId, passkey)]
    const text = JSON.stringify({ organizationId: service.organizationId })
    const ask = () =>
      service.root.raw('/public/v1/query/whoami', text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text) })
    expect((await ask()).body['userId']).toBe(userId)
    expect(await complete(service.root, TYPE, { userId, authenticatorIds })).toEqual({ authenticatorIds })
    expect((await ask()).body).toMatchObject({
      code: 16,
      message: `credential ID could not be found in organization or its parent organization organizationId=${service.organizationId} credentialId=${passkey.credentialId}`,
      turnkeyErrorCode: 'CREDENTIAL_NOT_FOUND',
    })
  })

  test('delete_authenticators: the last way in stays', async () => {
    const userId = await makeUser(service.root, { apiKeys: [], authenticators: [createPasskey().register()] })
    const { authenticators } = await service.root.query('get_authenticators', { userId })
    const authenticatorIds = authenticators.map(({ authenticatorId }) => authenticatorId)
    expect(await refusalOf(service.root.submit(TYPE, { userId, authenticatorIds }))).toEqual(
      invalid(`user missing valid credential: ${userId}`),
    )
  })

  test('delete_authenticators: an API key may go while a passkey stays', async () => {
    const userId = await makeUser(service.root, { authenticators: [createPasskey().register()] })
    const { apiKeys } = await service.root.query('get_api_keys', { userId })
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds: [apiKeys[0]!.apiKeyId] })
  })

  test('delete_authenticators: what the user does not have is not found', async () => {
    const userId = await makeUser(service.root)
    const others = [await register(await makeUser(service.root), createPasskey())]
    for (const authenticatorIds of [others, [NOBODY]]) {
      expect(await refusalOf(service.root.submit(TYPE, { userId, authenticatorIds }))).toEqual(gone)
    }
    expect(await refusalOf(service.root.query('get_authenticator', { authenticatorId: NOBODY }))).toEqual(gone)
  })
})
