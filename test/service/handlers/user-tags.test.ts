import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActivityType } from '../../../src/protocol/index.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import {
  complete,
  exhausted,
  fresh,
  invalidField,
  makeUser,
  missing,
  NOBODY,
  type Refusal,
  refusalOf,
} from './steps.ts'

const clock = createTestClock()
let service: TestService
let alice: string
let bob: string
beforeAll(async () => {
  service = await startTestService({ clock })
  alice = await makeUser(service.root)
  bob = await makeUser(service.root)
})
afterAll(() => service.close())

const tagsOf = async (userId: string) => (await service.root.query('get_user', { userId })).user.userTags
const makeTag = (userIds: string[] = []) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds })
const noUser = () => missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`)

describe('user tags', () => {
  test('user tags: a tag is made, renamed, moved and deleted', async () => {
    const made = await makeTag([alice])
    const { userTagId } = made
    expect(made).toEqual({ userTagId, userIds: [alice] })
    clock.advance(1_500)
    const change = { userTagId, newUserTagName: 'renamed', addUserIds: [bob], removeUserIds: [alice] }
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_TAG', change)).toEqual({ userTagId })
    const { userTags } = await service.root.query('list_user_tags')
    expect(userTags).toEqual([
      {
        tagId: userTagId,
        tagName: 'renamed',
        tagType: 'TAG_TYPE_USER',
        createdAt: { seconds: '1750000000', nanos: '0' },
        updatedAt: { seconds: '1750000001', nanos: '500000000' },
      },
    ])
    expect([await tagsOf(alice), await tagsOf(bob)]).toEqual([[], [userTagId]])
    const deleted = await complete(service.root, 'ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTagId] })
    expect(deleted).toEqual({ userTagIds: [userTagId], userIds: [bob] })
    expect(await tagsOf(bob)).toEqual([])
    expect((await service.root.query('list_user_tags')).userTags).toEqual([])
  })

  test('user tags: who bears a tag may be given it again, who does not may lose it, and the name may stay', async () => {
    const { userTagId } = await makeTag([alice])
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_TAG', {
      userTagId,
      addUserIds: [alice],
      removeUserIds: [bob],
    })
    expect([await tagsOf(alice), await tagsOf(bob)]).toEqual([[userTagId], []])
  })

  test('user tags: a user bears tags in the order of the tags, not in that in which they were given', async () => {
    const made: string[] = []
    for (let count = 0; count < 8; count++) made.push((await makeTag()).userTagId)
    const user = await makeUser(service.root, { userTags: made.toReversed() })
    expect(await tagsOf(user)).toEqual(made)
  })

  test.each<{ name: string; type: ActivityType; parameters: () => Promise<object> | object; expected: () => Refusal }>([
    {
      name: 'making one with an unknown user',
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      parameters: () => ({ userTagName: 'x', userIds: [NOBODY] }),
      expected: noUser,
    },
    {
      name: 'making one without a name',
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      parameters: () => ({ userTagName: '', userIds: [] }),
      expected: () => invalidField('userTagName', 'must not be empty'),
    },
    {
      name: 'updating an unknown one',
      type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
      parameters: () => ({ userTagId: NOBODY, newUserTagName: 'x', addUserIds: [], removeUserIds: [] }),
      expected: () => missing(`user tag not found: ${NOBODY}`),
    },
    {
      name: 'giving one to an unknown user',
      type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
      parameters: async () => ({ ...(await makeTag()), addUserIds: [NOBODY], removeUserIds: [] }),
      expected: noUser,
    },
    {
      name: 'taking one from an unknown user',
      type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
      parameters: async () => ({ ...(await makeTag()), addUserIds: [], removeUserIds: [NOBODY] }),
      expected: noUser,
    },
    {
      name: 'giving and taking at once',
      type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
      parameters: async () => ({ ...(await makeTag()), addUserIds: [alice], removeUserIds: [alice] }),
      expected: () => invalidField('addUserIds, removeUserIds', `must not mention \`${alice}\` twice`),
    },
    {
      name: 'deleting an unknown one',
      type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
      parameters: async () => ({ userTagIds: [(await makeTag()).userTagId, NOBODY] }),
      expected: () => missing(`user tag not found: ${NOBODY}`),
    },
  ])('user tags: $name is refused', async ({ type, parameters, expected }) => {
    const given = await parameters()
    const { userTags: before } = await service.root.query('list_user_tags')
    expect(await refusalOf(service.root.submit(type, given))).toEqual(expected())
    expect((await service.root.query('list_user_tags')).userTags).toEqual(before)
  })

  test('user tags: the hundred and first is refused', async () => {
    const { length } = (await service.root.query('list_user_tags')).userTags
    for (let count = length; count < 100; count++) await makeTag()
    expect(await refusalOf(makeTag())).toEqual(exhausted('organization has exceeded maximum tags (100)'))
  })
})
