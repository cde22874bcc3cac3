import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Wire } from '../../../src/protocol/index.ts'
import { createTestUser, startTestService, type TestService, type TestUser } from '../harness.ts'

let service: TestService
let other: TestService
let alice: TestUser
const made: Wire.Activity[] = []
beforeAll(async () => {
  service = await startTestService()
  other = await startTestService()
  for (let i = 0; i < 14; i++) {
    made.push(await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag-${i}`, userIds: [] }))
  }
  alice = await createTestUser(service, 'alice')
})
afterAll(async () => {
  await service.close()
  await other.close()
})

const list = async (request: object = {}) => {
  const filterByType = ['ACTIVITY_TYPE_CREATE_USER_TAG']
  const { activities } = await service.root.query('list_activities', { filterByType, ...request })
  return activities.map(({ id }) => made.findIndex((activity) => activity.id === id))
}
const page = (paginationOptions: object) => list({ paginationOptions })
const idOf = (index: number) => made[index]!.id

describe('reading activities', () => {
  test('reading: ten a page, newest first', async () => {
    expect(await list()).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4])
  })

  test('reading: before goes to the older ones, after to the newer ones next to the cursor, both newest first', async () => {
    expect(await page({ limit: '3', before: idOf(5) })).toEqual([4, 3, 2])
    expect(await page({ limit: '3', after: idOf(5) })).toEqual([8, 7, 6])
    expect(await page({ limit: '100', after: idOf(3), before: idOf(6) })).toEqual([5, 4])
    expect(await page({ limit: '3', before: idOf(0) })).toEqual([])
  })

  test('reading: walking pages with the last id as cursor meets every activity once', async () => {
    const seen: number[] = []
    let before = ''
    for (;;) {
      const found = await page({ limit: '4', before })
      seen.push(...found)
      if (found.length < 4) break
      before = idOf(found.at(-1)!)
    }
    expect(seen).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  test('reading: limits outside of 1 to 100 and unknown cursors are refused', async () => {
    for (const options of [
      { limit: '0' },
      { limit: '101' },
      { limit: 'x' },
      { before: '00000000-0000-4000-8000-000000000001' },
    ]) {
      await expect(page(options)).rejects.toMatchObject({ status: 400, body: { code: 3 } })
    }
  })

  test('reading: status and type narrow the list', async () => {
    expect(await list({ filterByStatus: ['ACTIVITY_STATUS_REJECTED'] })).toEqual([])
    const found = await service.root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_CREATE_USERS_V3'] })
    expect(found.activities.map(({ type }) => type)).toEqual(['ACTIVITY_TYPE_CREATE_USERS_V3'])
  })

  test('reading: a query has no nested copy and no timestampMs', async () => {
    const { activity } = await service.root.query('get_activity', { activityId: idOf(0) })
    expect(activity).not.toHaveProperty('timestampMs')
    expect(Object.keys(activity.result)).toEqual(['createUserTagResult'])
  })

  test('reading: any user of the organization may read', async () => {
    const { activity } = await alice.client.query('get_activity', { activityId: idOf(0) })
    expect(activity.id).toBe(idOf(0))
  })

  test('reading: ids of another organization look like ids that do not exist', async () => {
    const foreign = await other.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'x', userIds: [] })
    const say = async (name: 'get_activity' | 'get_policy_evaluations', activityId: string) => {
      const answer = await service.root
        .query(name, { activityId })
        .catch((error: { status: number; body: object }) => ({
          status: error.status,
          text: JSON.stringify(error.body).replaceAll(activityId, '<id>'),
        }))
      return answer
    }
    for (const name of ['get_activity', 'get_policy_evaluations'] as const) {
      const unknown = await say(name, '00000000-0000-4000-8000-000000000001')
      expect(unknown).toMatchObject({ status: 404 })
      expect(await say(name, foreign.id)).toEqual(unknown)
    }
  })
})
