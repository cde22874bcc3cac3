import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActivityType } from '../../../src/protocol/index.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import {
  complete,
  exhausted,
  fresh,
  invalid,
  invalidField,
  makeUser,
  missing,
  NOBODY,
  newKey,
  newUser,
  type Refusal,
  refusalOf,
  taken,
} from './steps.ts'

const clock = createTestClock()
let service: TestService
let tagId: string
let userId: string
const keyOfUser = newKey()
beforeAll(async () => {
  service = await startTestService({ clock })
  const tag = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'treasury', userIds: [] })
  tagId = tag.userTagId
  userId = await makeUser(service.root, { userName: 'alice', apiKeys: [keyOfUser] })
})
afterAll(() => service.close())

const read = async (id: string) => (await service.root.query('get_user', { userId: id })).user
const unknownUser = () => missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`)
const attestation = { credentialId: 'YQ', clientDataJson: 'YQ', attestationObject: 'YQ', transports: [] }

describe('create_users', () => {
  const older = { userName: 'v', userEmail: 'v@acme.test', userTags: () => [tagId] }
  const plainKey = () => {
    const { apiKeyName, publicKey } = newKey()
    return { apiKeyName, publicKey }
  }
  const base = () => ({ userName: older.userName, userEmail: older.userEmail, userTags: older.userTags() })
  const phone = { userPhoneNumber: '+15551234567' }
  test.each<{ type: ActivityType; users: () => object }>([
    {
      type: 'ACTIVITY_TYPE_CREATE_USERS',
      users: () => ({
        users: [{ ...base(), accessType: 'ACCESS_TYPE_API', apiKeys: [plainKey()], authenticators: [] }],
      }),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_USERS_V2',
      users: () => ({ users: [{ ...base(), apiKeys: [plainKey()], authenticators: [] }] }),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_USERS_V3',
      users: () => ({ users: [{ ...base(), ...phone, apiKeys: [newKey()], authenticators: [], oauthProviders: [] }] }),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
      users: () => ({ users: [{ ...base(), ...phone, apiKeys: [newKey()], authenticators: [], oauthProviders: [] }] }),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_API_ONLY_USERS',
      users: () => ({ apiOnlyUsers: [{ ...base(), apiKeys: [plainKey()] }] }),
    },
  ])('create_users: $type makes the whole user', async ({ type, users }) => {
    const activity = await service.root.submit(type, users())
    const [id] = Object.values(activity.result as unknown as Record<string, { userIds: string[] }>)[0]!.userIds
    expect(activity.type).toBe(type)
    expect(await read(id!)).toEqual({
      userId: id,
      userName: 'v',
      userEmail: 'v@acme.test',
      ...(/_V[34]$/.test(type) ? phone : {}),
      authenticators: [],
      apiKeys: [
        {
          credential: { publicKey: expect.stringMatching(/^0[23]/), type: 'CREDENTIAL_TYPE_API_KEY_P256' },
          apiKeyId: expect.any(String),
          apiKeyName: expect.stringContaining('key'),
          createdAt: { seconds: String(clock() / 1000), nanos: '0' },
          updatedAt: { seconds: String(clock() / 1000), nanos: '0' },
        },
      ],
      userTags: [tagId],
      oauthProviders: [],
      createdAt: { seconds: String(clock() / 1000), nanos: '0' },
      updatedAt: { seconds: String(clock() / 1000), nanos: '0' },
      mfaPolicies: [],
    })
  })

  test('create_users: several users come back in the order of the request, and so does the list', async () => {
    const users = Array.from({ length: 5 }, () => newUser())
    const { userIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V3', { users })
    const listed = (await service.root.query('list_users')).users.slice(-5)
    expect(listed.map((user) => user.userId)).toEqual(userIds)
    expect(listed.map(({ userName }) => userName)).toEqual(users.map(({ userName }) => userName))
  })

  test('create_users: two users may have one name and one e-mail', async () => {
    const twin = { userName: 'twin', userEmail: 'twin@acme.test' }
    await makeUser(service.root, twin)
    await makeUser(service.root, twin)
  })

  const twice = newKey()
  test.each<{ name: string; user: () => object; expected: () => Refusal }>([
    {
      name: 'an authenticator',
      user: () => newUser({ authenticators: [{ authenticatorName: 'a', challenge: 'c', attestation }] }),
      expected: () => invalid('invalid authenticator attestation'),
    },
    {
      name: 'an OAuth provider',
      user: () => newUser({ oauthProviders: [{ providerName: 'google', oidcToken: 'x' }] }),
      expected: () => [400, 3, 'invalid OIDC token', 'INVALID_OIDC_TOKEN'],
    },
    {
      name: 'no way in',
      user: () => newUser({ userName: 'nobody', apiKeys: [] }),
      expected: () => invalid('user missing valid credential: nobody'),
    },
    {
      name: 'an e-mail whose login is not switched on as only way in',
      user: () => newUser({ userName: 'mailer', userEmail: 'm@acme.test', apiKeys: [] }),
      expected: () => invalid('user missing valid credential: mailer'),
    },
    {
      name: 'an unknown tag',
      user: () => newUser({ userTags: [NOBODY] }),
      expected: () => missing(`user tag not found: ${NOBODY}`),
    },
    {
      name: 'a tag twice',
      user: () => newUser({ userTags: [tagId, tagId] }),
      expected: () => invalidField('userTags', `must not mention \`${tagId}\` twice`),
    },
    {
      name: 'a key that another user has',
      user: () => newUser({ apiKeys: [keyOfUser] }),
      expected: () => taken(`api key with public key ${keyOfUser.publicKey} already exists in this organization`),
    },
    {
      name: 'one key twice',
      user: () => newUser({ apiKeys: [twice, twice] }),
      expected: () => invalidField('publicKey', `must not mention \`${twice.publicKey}\` twice`),
    },
    {
      name: 'eleven long-lived keys',
      user: () => newUser({ apiKeys: Array.from({ length: 11 }, () => newKey()) }),
      expected: () => exhausted('user has exceeded maximum long-lived api keys'),
    },
    {
      name: 'no e-mail address',
      user: () => newUser({ userEmail: 'nowhere' }),
      expected: () => [400, 3, 'invalid email address', 'INVALID_EMAIL'],
    },
  ])('create_users: $name is refused, and nobody is made', async ({ user, expected }) => {
    const before = (await service.root.query('list_users')).users.length
    const users = [newUser(), user()]
    const refusal = await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users }))
    expect(refusal).toEqual(expected())
    expect((await service.root.query('list_users')).users).toHaveLength(before)
  })

  test('create_users: an e-mail is a way in once its login is switched on, and then cannot be switched off', async () => {
    const feature = { name: 'FEATURE_NAME_OTP_EMAIL_AUTH' }
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    const id = await makeUser(service.root, { userEmail: 'only@acme.test', apiKeys: [] })
    const locked = invalid(`user missing valid credential: ${id}`)
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', feature))).toEqual(locked)
    const noEmail = { userId: id, userEmail: '' }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_UPDATE_USER_EMAIL', noEmail))).toEqual(locked)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [id] })
    await complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', feature)
  })
})

describe('update_user', () => {
  test('update_user: what is absent stays, what is there replaces', async () => {
    const id = await makeUser(service.root, { userEmail: 'old@acme.test', userTags: [tagId] })
    const before = await read(id)
    clock.advance(5_000)
    const updatedAt = { seconds: String(clock() / 1000), nanos: '0' }
    const update = (change: object) => complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER', { userId: id, ...change })
    expect(await update({ userName: 'renamed' })).toEqual({ userId: id })
    expect(await read(id)).toEqual({ ...before, userName: 'renamed', updatedAt })
    await update({ userEmail: 'new@acme.test', userPhoneNumber: '+15550000000', userTagIds: [] })
    expect(await read(id)).toEqual({
      ...before,
      userName: 'renamed',
      userEmail: 'new@acme.test',
      userPhoneNumber: '+15550000000',
      userTags: [],
      updatedAt,
    })
  })

  test.each([
    { type: 'ACTIVITY_TYPE_UPDATE_USER_NAME' as const, change: { userName: 'ursula' } },
    { type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL' as const, change: { userEmail: 'u@acme.test' } },
    { type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER' as const, change: { userPhoneNumber: '+15557654321' } },
  ])('update_user: $type changes its one field', async ({ type, change }) => {
    const id = await makeUser(service.root)
    const before = await read(id)
    expect(await complete(service.root, type, { userId: id, ...change })).toEqual({ userId: id })
    expect(await read(id)).toEqual({ ...before, ...change })
  })

  test('update_user: an empty e-mail or phone number removes it', async () => {
    const id = await makeUser(service.root, { userEmail: 'e@acme.test', userPhoneNumber: '+15551112222' })
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId: id, userEmail: '' })
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER', { userId: id, userPhoneNumber: '' })
    expect(Object.keys(await read(id))).not.toContain('userEmail')
    expect(Object.keys(await read(id))).not.toContain('userPhoneNumber')
  })

  const unverified = invalid('invalid verification token: it was not issued by this service')
  test.each<{ name: string; type: ActivityType; change: () => object; expected: () => Refusal }>([
    {
      name: 'an unknown user',
      type: 'ACTIVITY_TYPE_UPDATE_USER',
      change: () => ({ userId: NOBODY, userName: 'x' }),
      expected: unknownUser,
    },
    {
      name: 'an unknown tag',
      type: 'ACTIVITY_TYPE_UPDATE_USER',
      change: () => ({ userId, userTagIds: [NOBODY] }),
      expected: () => missing(`user tag not found: ${NOBODY}`),
    },
    {
      name: 'the name of an unknown user',
      type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
      change: () => ({ userId: NOBODY, userName: 'x' }),
      expected: unknownUser,
    },
    {
      name: 'the e-mail of an unknown user',
      type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
      change: () => ({ userId: NOBODY, userEmail: 'x@acme.test' }),
      expected: unknownUser,
    },
    {
      name: 'an e-mail with a proof that is none',
      type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
      change: () => ({ userId, userEmail: 'x@acme.test', verificationToken: 'x' }),
      expected: () => unverified,
    },
    {
      name: 'a phone number with a proof that is none',
      type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
      change: () => ({ userId, userPhoneNumber: '+15550001111', verificationToken: 'x' }),
      expected: () => unverified,
    },
    {
      name: 'a phone number that is none',
      type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
      change: () => ({ userId, userPhoneNumber: '555' }),
      expected: () => invalidField('userPhoneNumber', 'must be a phone number in E.164 form'),
    },
  ])('update_user: $name is refused', async ({ type, change, expected }) => {
    expect(await refusalOf(service.root.submit(type, change()))).toEqual(expected())
  })
})

describe('delete_users', () => {
  test('delete_users: a user goes with keys and tags, and the key is free again', async () => {
    const key = newKey()
    const tag = { userTagName: fresh('tag'), userIds: [userId] }
    const { userTagId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    const id = await makeUser(service.root, { apiKeys: [key], userTags: [userTagId] })
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [id] })).toEqual({ userIds: [id] })
    expect(await refusalOf(service.root.query('get_user', { userId: id }))).toEqual(
      missing(`unable to find user ${id} in organization ${service.organizationId}`),
    )
    const { apiKeys } = await service.root.query('get_api_keys')
    expect(apiKeys.map((row) => row.credential.publicKey)).not.toContain(key.publicKey)
    await makeUser(service.root, { apiKeys: [key] })
    const deleted = await complete(service.root, 'ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTagId] })
    expect(deleted).toEqual({ userTagIds: [userTagId], userIds: [userId] })
  })

  test.each<{ name: string; userIds: () => string[]; expected: () => Refusal }>([
    { name: 'an unknown user', userIds: () => [userId, NOBODY], expected: unknownUser },
    { name: 'nobody', userIds: () => [], expected: () => invalidField('userIds', 'must not be empty') },
    {
      name: 'a user twice',
      userIds: () => [userId, userId],
      expected: () => invalidField('userIds', `must not mention \`${userId}\` twice`),
    },
    {
      name: 'a member of the root quorum',
      userIds: () => [userId, service.rootUserId],
      expected: () =>
        invalid(`user ${service.rootUserId} is in the root quorum and must leave it before being deleted`),
    },
  ])('delete_users: $name is refused, and nobody is deleted', async ({ userIds, expected }) => {
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_DELETE_USERS', { userIds: userIds() }))).toEqual(
      expected(),
    )
    expect((await read(userId)).userName).toBe('alice')
  })
})

test('users: the hundred and first is refused', async () => {
  const { length } = (await service.root.query('list_users')).users
  const users = Array.from({ length: 100 - length }, () => newUser())
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users })
  expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser()] }))).toEqual(
    exhausted('organization has exceeded maximum users (100)'),
  )
  expect((await service.root.query('list_users')).users).toHaveLength(100)
})
