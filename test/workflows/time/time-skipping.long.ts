/** Days of waiting for people, with time skipped: the workflows, the real client and the real service on Temporal's test server. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import type { Workflow, WorkflowResultType } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApplyProgress, RotationProgress } from '../../../activities/index.ts'
import { orderRotation } from '../../../src/operations/index.ts'
import { keepDefinitions } from '../../../src/operations/watch-plan.ts'
import type { Batch } from '../../../src/plan/index.ts'
import type { ActivityType } from '../../../src/protocol/index.ts'
import type { apply, reconcile, rotate } from '../../../workflows/index.ts'
import { runs } from '../../runs.ts'
import { complete } from '../../service/handlers/steps.ts'
import { createTestUser } from '../../service/harness.ts'
import { askUntil } from '../asking.ts'
import { makePlanOf } from '../made-plan.ts'
import { type Desk, openDesk } from './desk.ts'
import { hasTimeServer } from './server.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** In the soak, with QUORATE_TIMES, a year and a month. */
const MONTHS = Math.min(runs(4), 12)
const DAYS = Math.min(runs(10), 30)

describe.skipIf(!hasTimeServer)("time skipped (needs Temporal's test server in Java)", () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk()
  })
  afterAll(async () => desk.close())

  const listed = async (types: readonly ActivityType[]) => {
    const { activities } = await desk.service.root.query('list_activities', {
      filterByType: types,
      paginationOptions: { limit: '100' },
    })
    return activities
  }

  test('a rotation each month: each by one activity to make and one to delete it, and the user always has one that works', async () => {
    const { service, time, folder, root, store, temporal } = desk
    const { organizationId } = service
    const { userId, client } = await createTestUser(service, 'ci')
    const path = join(folder, 'ci.key')
    writeFileSync(path, JSON.stringify({ privateKey: client.privateKey }), { mode: 0o600 })
    const own = () => service.client((JSON.parse(readFileSync(path, 'utf8')) as { privateKey: string }).privateKey)
    const publicKeys = new Set([client.publicKey])
    for (let month = 0; month < MONTHS; month++) {
      await time.look()
      const request = { user: 'ci', key: own().publicKey, overlapMs: DAY, sink: { kind: 'file', path } as const }
      const order = await orderRotation(root, request, { now: time.now(), organizationName: 'acme' })
      await store.rotations.enter(order)
      const handle = await temporal.client.workflow.start<typeof rotate>('rotate', {
        workflowId: `rotate/${organizationId}/${userId}`,
        taskQueue: organizationId,
        args: [{ organizationId, rotationId: order.rotationId }],
      })
      const { state } = await askUntil(
        () => handle.query<RotationProgress>('progress'),
        ({ state, error }) => state === 'overlap' || error !== undefined,
      )
      expect(state).toBe('overlap')
      expect((await service.root.query('get_api_keys', { userId })).apiKeys).toHaveLength(2)
      expect(await own().query('whoami')).toMatchObject({ userId })
      await time.pass(30 * DAY)
      const ended = await resultOf(handle)
      expect(ended).toMatchObject({ state: 'done', proof: 'refused' })
      expect(Date.parse(ended.deletedAt!) - Date.parse(ended.handedAt!)).toBeGreaterThanOrEqual(DAY)
      expect(Math.max(...(await desk.lengthsOf(handle)))).toBeLessThan(200)
      expect(await own().query('whoami')).toMatchObject({ userId })
      publicKeys.add(own().publicKey)
    }
    expect(publicKeys.size).toBe(MONTHS + 1)
    expect((await service.root.query('get_api_keys', { userId })).apiKeys).toHaveLength(1)
    expect(await listed(['ACTIVITY_TYPE_CREATE_API_KEYS_V2'])).toHaveLength(MONTHS)
    expect(await listed(['ACTIVITY_TYPE_DELETE_API_KEYS'])).toHaveLength(MONTHS)
  })

  test('days of reconciling: what somebody deletes is made again by one activity each, and no history grows', async () => {
    const { service, time, folder, store, temporal } = desk
    const { organizationId } = service
    const defs = join(folder, 'defs')
    mkdirSync(defs)
    writeFileSync(join(defs, 'acme.yaml'), `organization: acme\nid: ${organizationId}\ntags: { ops: {} }\n`)
    const { definitions, given } = await keepDefinitions(defs, { env: {}, vars: {} })
    await store.watches.put({
      ...{ organizationId, organization: 'acme', baseUrl: service.url, given, modes: { tag: 'repair' } },
      ...{ definitions: await store.watches.putDefinitions(definitions), since: new Date(time.now()).toISOString() },
      ...{ everyMs: 6 * HOUR, sweepMs: DAY },
    })
    const tagOf = async () =>
      (await service.root.query('list_user_tags', {})).userTags.find(({ tagName }) => tagName === 'ops')
    const looks = DAYS * 4
    let longest = 0
    for (let look = 0; look < looks; look++) {
      const handle = await temporal.client.workflow.start<typeof reconcile>('reconcile', {
        workflowId: `reconcile/${organizationId}`,
        taskQueue: organizationId,
        args: [{ organizationId }],
      })
      const { repair } = await resultOf(handle)
      longest = Math.max(longest, ...(await desk.lengthsOf(handle)))
      if (repair) {
        const applied = temporal.client.workflow.getHandle<typeof apply>(`apply/${organizationId}`)
        expect((await resultOf(applied)).state).toBe('done')
        await time.release()
      }
      await time.pass(6 * HOUR)
      if (look % 24 === 23)
        await complete(service.root, 'ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [(await tagOf())!.tagId] })
    }
    // It is made once, and again after each time that it is deleted, but for what no later look could find.
    expect(await listed(['ACTIVITY_TYPE_CREATE_USER_TAG'])).toHaveLength(1 + Math.floor((looks - 1) / 24))
    expect(longest).toBeLessThan(50)
  })

  test('an approval that takes days completes as one activity: lapsed votes are cast again, and voters are named', {
    timeout: 600_000,
  }, async () => {
    // With QUORATE_TIMES, as in the soak, three days; else the one after which votes lapse.
    const days = Math.min(runs(1), 3)
    const { service, time, store, temporal } = desk
    const { organizationId, rootUserId: userId, root, url: baseUrl } = service
    const [bob, dana] = [await createTestUser(service, 'bob'), await createTestUser(service, 'dana')]
    const userIds = [userId, bob.userId, dana.userId]
    await complete(root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 3, userIds })
    const tag = (index: number, name: string): Batch => ({
      index,
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      summary: `create tag ${name}`,
      parameters: { userTagName: name, userIds: [] },
      changes: [`tag.${name}`],
      after: index === 0 ? [] : [index - 1],
      produces: [{ address: `tag.${name}`, at: ['createUserTagResult', 'userTagId'] }],
    })
    const batches = [tag(0, 'slow'), tag(1, 'after')]
    const plan = makePlanOf({ organizationId, baseUrl, userId, publicKey: root.publicKey }, batches)
    await store.putPlan(plan)
    const handle = await temporal.client.workflow.start<typeof apply>('apply', {
      workflowId: `apply/${organizationId}`,
      taskQueue: organizationId,
      args: [{ organizationId, planDigest: plan.digest, run: await store.runs.open(plan.digest) }],
    })
    const stand = (index: number, wanted: (one: ApplyProgress['batches'][number]) => boolean) =>
      askUntil(
        async () => (await handle.query<ApplyProgress>('progress')).batches[index]!,
        (one) => one !== undefined && wanted(one),
      )
    const { fingerprint, activityId } = await stand(0, ({ state }) => state === 'waiting')
    const activity = async () => (await root.query('get_activity', { activityId })).activity
    await bob.client.approve(fingerprint!)
    await time.pass(23 * HOUR)
    expect((await stand(0, () => true)).votes?.approved).toHaveLength(2)
    await time.pass(90 * 60_000)
    // Of those who approved, the submitter has again, by the fingerprint, and bob is to.
    expect((await stand(0, () => true)).votes).toEqual({ approved: [expect.any(String)], lapsed: ['bob'] })
    for (let day = 1; day < days; day++) await time.pass(DAY)
    expect((await activity()).votes).toHaveLength(2 + days)
    await bob.client.approve(fingerprint!)
    await dana.client.approve(fingerprint!)
    // What is submitted now is stamped now: the API refuses what is older than an hour.
    const after = await stand(1, ({ state }) => state === 'waiting')
    expect(Date.parse(after.since!) - Date.parse((await stand(0, () => true)).since!)).toBeGreaterThan(days * DAY)
    for (const { client } of [bob, dana]) await client.approve(after.fingerprint!)
    const result = await resultOf(handle)
    expect(result.state).toBe('done')
    const made = await listed(['ACTIVITY_TYPE_CREATE_USER_TAG'])
    const named = (name: string) => made.filter(({ intent }) => JSON.stringify(intent).includes(`"${name}"`))
    expect([named('slow').length, named('after').length]).toEqual([1, 1])
    const lengths = await desk.lengthsOf(handle)
    console.log(`days=${days} runs=${lengths.length} longest=${Math.max(...lengths)}`)
    expect(Math.max(...lengths)).toBeLessThan(8_300)
    expect(lengths.length).toBeGreaterThan(1)
  })
})

/** This server does not always answer a long poll that began before a workflow ended. */
async function resultOf<T extends Workflow>(handle: WorkflowHandle<T>): Promise<WorkflowResultType<T>> {
  await askUntil(
    () => handle.describe(),
    ({ status }) => status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW',
  )
  return handle.result()
}
