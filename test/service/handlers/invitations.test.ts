import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { complete, exhausted, invalid, invalidField, missing, NOBODY, type Refusal, refusalOf } from './steps.ts'

let service: TestService
let tagId: string
beforeAll(async () => {
  service = await startTestService({ clock: createTestClock() })
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

  test('invitations: nobody can accept one, and the refusal says why', async () => {
    const { invitationIds } = await create(invitation())
    const attestation = { credentialId: 'AA', clientDataJson: 'AA', attestationObject: 'AA', transports: [] }
    const authenticator = { authenticatorName: 'a', challenge: 'AA', attestation }
    const acceptance = { invitationId: invitationIds[0], userId: service.rootUserId, authenticator }
    const [status, code, message] = await refusalOf(
      service.root.submit('ACTIVITY_TYPE_ACCEPT_INVITATION_V2', acceptance),
    )
    expect([status, code]).toEqual([501, 12])
    expect(message).toContain('this version mails no invitations')
    await remove(invitationIds[0]!)
  })

  test('invitations: the hundred and first is refused', async () => {
    await create(...Array.from({ length: 100 }, () => invitation()))
    expect(await refusalOf(create(invitation()))).toEqual(
      exhausted('organization has exceeded maximum invitations (100)'),
    )
  })
})
