import { decryptCredentialBundle, generateP256KeyPair } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { messageOf } from '../one-time-passcodes/outbox.ts'
import { asBrowserGave, createPasskey, type Passkey } from '../passkey.ts'
import {
  complete,
  exhausted,
  fresh,
  invalid,
  invalidField,
  makeUser,
  missing,
  NOBODY,
  newUser,
  type Refusal,
  refusalOf,
} from './steps.ts'

const clock = createTestClock()
let service: TestService
let tagId: string
beforeAll(async () => {
  service = await startTestService({ clock })
  const tag = { userTagName: 'guests', userIds: [] }
  tagId = (await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)).userTagId
})
afterAll(() => service.close())

const invitation = (overrides: object = {}) => ({
  receiverUserName: 'gwen',
  receiverUserEmail: 'gwen@acme.test',
  receiverUserTags: [tagId],
  accessType: 'ACCESS_TYPE_ALL',
  senderUserId: service.rootUserId,
  ...overrides,
})
const create = (...invitations: object[]) => complete(service.root, 'ACTIVITY_TYPE_CREATE_INVITATIONS', { invitations })
const list = async () => (await service.root.query('get_organization')).organizationData.invitations
/** Makes one, reads its mail, and gives what the receiver can do. */
async function invite(overrides: object = {}) {
  const { result, message } = await messageOf(service, () => create(invitation(overrides)))
  const lineOf = (name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(message.text)?.[1] ?? ''
  const [invitationId, userId, client] = [result.invitationIds[0]!, lineOf('User'), service.client(lineOf('Key'))]
  expect(lineOf('Invitation')).toBe(invitationId)
  const accept = (passkey: Passkey) => {
    const parameters = { invitationId, userId, authenticator: passkey.register() }
    const { path, text } = service.body('ACTIVITY_TYPE_ACCEPT_INVITATION_V2', parameters)
    return client.raw(path, text)
  }
  return { invitationId, userId, client, accept, text: message.text }
}
/** Makes a user, reads the mail by which they recover, and gives what they can do. */
async function startRecovery() {
  const name = 'FEATURE_NAME_EMAIL_RECOVERY'
  await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name })
  const email = `${fresh('ann')}@acme.test`
  const userId = await makeUser(service.root, { userEmail: email })
  const target = generateP256KeyPair()
  const asked = { email, targetPublicKey: target.publicKeyUncompressed, emailCustomization: { appName: 'Acme' } }
  const { message } = await messageOf(service, () =>
    complete(service.root, 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2', asked),
  )
  const bundle = /code:\s+(\w+)\n/.exec(message.text)![1]!
  const client = service.client(decryptCredentialBundle(bundle, target.privateKey))
  return (passkey: Passkey) => {
    const { path, text } = service.body('ACTIVITY_TYPE_RECOVER_USER', { userId, authenticator: passkey.register() })
    return client.raw(path, text)
  }
}
const remove = (invitationId: string) => complete(service.root, 'ACTIVITY_TYPE_DELETE_INVITATION', { invitationId })

describe('invitations', () => {
  test('invitations: they are made in the order given, listed with the organization, and deleted', async () => {
    const { invitationIds } = await create(
      invitation(),
      invitation({ receiverUserTags: [], accessType: 'ACCESS_TYPE_API' }),
    )
    const now = { seconds: '1750000000', nanos: '0' }
    const made = { status: 'INVITATION_STATUS_CREATED', createdAt: now, updatedAt: now }
    expect(await list()).toEqual([
      { invitationId: invitationIds[0], ...invitation(), ...made },
      {
        invitationId: invitationIds[1],
        ...invitation({ receiverUserTags: [], accessType: 'ACCESS_TYPE_API' }),
        ...made,
      },
    ])
    expect(await remove(invitationIds[0]!)).toEqual({ invitationId: invitationIds[0] })
    expect((await list()).map(({ invitationId }) => invitationId)).toEqual([invitationIds[1]])
    await remove(invitationIds[1]!)
  })

  test.each<{ name: string; given: () => object; expected: () => Refusal }>([
    {
      name: 'an unknown sender',
      given: () => invitation({ senderUserId: NOBODY }),
      expected: () => missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`),
    },
    {
      name: 'an unknown tag',
      given: () => invitation({ receiverUserTags: [NOBODY] }),
      expected: () => missing(`user tag not found: ${NOBODY}`),
    },
    {
      name: 'no address',
      given: () => invitation({ receiverUserEmail: 'gwen' }),
      expected: () => [400, 3, 'invalid email address', 'INVALID_EMAIL'],
    },
    {
      name: 'an unknown access',
      given: () => invitation({ accessType: 'ACCESS_TYPE_NONE' }),
      expected: () => invalid(expect.stringContaining('accessType')),
    },
  ])('invitations: $name is refused, and none is made', async ({ given, expected }) => {
    expect(await refusalOf(create(invitation(), given()))).toEqual(expected())
    expect(await list()).toEqual([])
  })

  test('invitations: an empty list and an unknown one are refused', async () => {
    expect(await refusalOf(create())).toEqual(invalidField('invitations', 'must not be empty'))
    expect(await refusalOf(remove(NOBODY))).toEqual(missing(`invitation not found: ${NOBODY}`))
  })

  test('invitations: the key that is mailed makes its receiver a user with a passkey, once', async () => {
    const { accept, userId, invitationId, text } = await invite()
    expect(text).toContain(`Organization: ${service.organizationId}`)
    const passkey = createPasskey()
    const done = await accept(passkey)
    expect(done.body['activity']).toMatchObject({
      status: 'ACTIVITY_STATUS_COMPLETED',
      result: { acceptInvitationResult: { invitationId, userId } },
      votes: [{ userId, user: { userName: 'gwen' } }],
    })
    const { user } = await service.root.query('get_user', { userId })
    expect(user).toMatchObject({ userName: 'gwen', userEmail: 'gwen@acme.test', userTags: [tagId], apiKeys: [] })
    expect(user.authenticators.map(({ credentialId }) => credentialId)).toEqual([passkey.credentialId])
    expect(await list()).toMatchObject([{ invitationId, status: 'INVITATION_STATUS_ACCEPTED' }])
    const again = await accept(createPasskey())
    expect([again.status, again.body['turnkeyErrorCode']]).toEqual([401, 'PUBLIC_KEY_NOT_FOUND'])
    expect(await remove(invitationId)).toEqual({ invitationId })
    expect((await service.root.query('get_user', { userId })).user.userId).toBe(userId)
  })

  test('invitations: the first version of acceptance takes what the browser gave', async () => {
    const { client, userId, invitationId } = await invite()
    const passkey = createPasskey()
    const authenticator = asBrowserGave(passkey.register(), userId)
    const done = await complete(client, 'ACTIVITY_TYPE_ACCEPT_INVITATION', { invitationId, userId, authenticator })
    expect(done).toEqual({ invitationId, userId })
    const { user } = await service.root.query('get_user', { userId })
    expect(user.authenticators.map(({ credentialId }) => credentialId)).toEqual([passkey.credentialId])
    await remove(invitationId)
  })

  test('invitations: the key accepts its own invitation and does nothing else, and no other key accepts it', async () => {
    const [one, other] = [await invite(), await invite()]
    const notAuthorized: Refusal = [403, 7, 'request not authorized', 'REQUEST_NOT_AUTHORIZED']
    expect(await refusalOf(one.client.query('whoami'))).toEqual(notAuthorized)
    expect(await refusalOf(one.client.submit('ACTIVITY_TYPE_DELETE_INVITATION', one))).toEqual(notAuthorized)
    const { invitationId, userId } = one
    const acceptance = { invitationId, userId, authenticator: createPasskey().register() }
    for (const client of [service.root, other.client])
      expect(await refusalOf(client.submit('ACTIVITY_TYPE_ACCEPT_INVITATION_V2', acceptance))).toEqual(notAuthorized)
    const asSomebody = { ...acceptance, userId: service.rootUserId }
    expect(await refusalOf(one.client.submit('ACTIVITY_TYPE_ACCEPT_INVITATION_V2', asSomebody))).toEqual(
      invalidField('userId', 'must be the one of the invitation'),
    )
    const unknown = { ...acceptance, invitationId: NOBODY }
    expect(await refusalOf(one.client.submit('ACTIVITY_TYPE_ACCEPT_INVITATION_V2', unknown))).toEqual(
      missing(`invitation not found: ${NOBODY}`),
    )
    for (const { invitationId: id } of [one, other]) await remove(id)
    expect((await one.accept(createPasskey())).body['turnkeyErrorCode']).toBe('PUBLIC_KEY_NOT_FOUND')
  })

  test('invitations: policies need not allow the acceptance, and one that waits holds nobody up; a DENY does', async () => {
    const policy = (overrides: object) =>
      complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
        policyName: fresh('p'),
        effect: 'EFFECT_ALLOW',
        ...overrides,
      })
    const waiting = await policy({ consensus: 'approvers.count() > 1', condition: 'true' })
    const first = await invite()
    expect((await first.accept(createPasskey())).body['activity']).toMatchObject({
      status: 'ACTIVITY_STATUS_COMPLETED',
    })
    const condition = "activity.type == 'ACTIVITY_TYPE_ACCEPT_INVITATION_V2'"
    const consensus = `approvers.any(user, user.tags.contains('${tagId}'))`
    const deny = await policy({ effect: 'EFFECT_DENY', consensus, condition })
    const second = await invite()
    expect((await second.accept(createPasskey())).status).toBe(403)
    for (const { policyId } of [waiting, deny])
      await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
    // Refused, the key is as good as before.
    expect((await second.accept(createPasskey())).status).toBe(200)
    for (const { invitationId } of [first, second]) await remove(invitationId)
  })

  test('invitations: a tag that is gone by then is left out; a key ends after seven days', async () => {
    const tag = { userTagName: fresh('tag'), userIds: [] }
    const { userTagId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    const [one, late] = [await invite({ receiverUserTags: [tagId, userTagId] }), await invite()]
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTagId] })
    clock.advance(7 * 86_400_000 - 1)
    expect((await one.accept(createPasskey())).status).toBe(200)
    expect((await service.root.query('get_user', { userId: one.userId })).user.userTags).toEqual([tagId])
    clock.advance(1)
    expect((await late.accept(createPasskey())).body['turnkeyErrorCode']).toBe('API_KEY_EXPIRED')
    for (const { invitationId } of [one, late]) await remove(invitationId)
  })

  test('invitations: an acceptance and a recovery are refused where the organization has no room for one more passkey', async () => {
    const recover = await startRecovery()
    const { accept, invitationId } = await invite()
    const transports = Array.from({ length: 1_000 }, () => 'AUTHENTICATOR_TRANSPORT_INTERNAL')
    const large = (passkey = createPasskey()): Passkey => ({
      ...passkey,
      register: () => ({ ...passkey.register({ attestation: { transports } }), authenticatorName: fresh('large') }),
    })
    const userIds: string[] = []
    const addUsers = (count: number, each: number) => {
      const authenticators = () => Array.from({ length: each }, () => large().register())
      const users = Array.from({ length: count }, () => newUser({ authenticators: authenticators() }))
      return service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users })
    }
    // 35 kB each, until there is room for none.
    for (const [count, each] of [
      [3, 9],
      [1, 9],
      [1, 1],
    ] as const)
      for (;;) {
        const made = await addUsers(count, each).catch(() => undefined)
        if (made === undefined) break
        userIds.push(...made.result.createUsersResult!.userIds)
      }
    const passkey = createPasskey()
    expect((await accept(large(passkey))).status).toBe(429)
    const another = createPasskey()
    expect((await recover(large(another))).status).toBe(429)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds })
    expect((await accept(passkey)).status).toBe(200)
    expect((await recover(another)).status).toBe(200)
    await remove(invitationId)
  })

  test('invitations: the hundred and first is refused', async () => {
    await create(...Array.from({ length: 100 }, () => invitation()))
    expect(await refusalOf(create(invitation()))).toEqual(
      exhausted('organization has exceeded maximum invitations (100)'),
    )
  })
})
