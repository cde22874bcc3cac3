/** The apply workflow, the real client and the real service over a socket: nothing between them is a double. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApplyProgress, createActivities, createPlanStore } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { askAnew } from '../../src/operations/index.ts'
import type { Batch, Plan } from '../../src/plan/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { createWorker, type TemporalConnections } from '../../src/worker/index.ts'
import type { apply } from '../../workflows/index.ts'
import { openHistory } from '../open-history.ts'
import { startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { connectTestTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { askUntil } from './asking.ts'
import { makePlanOf } from './made-plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-real-'))
const store = createPlanStore(join(folder, 'plans'))
let service: TestService
let temporal: TemporalConnections
let bob: TestClient
let stopWorker: () => Promise<void>

beforeAll(async () => {
  service = await startTestService()
  temporal = await connectTestTemporal()
  bob = service.client(await addUser('bob'))
  const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
  const { organizationId } = service
  const clientFor = () => createSubmitClient({ baseUrl: service.url, organizationId, stamper })
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    seal: testSeal,
    taskQueue: organizationId,
    activities: createActivities({ clientFor, planStore: store, clock: Date.now, logger: silentLogger }),
    workflowBundle: await testBundle(),
    maxCachedWorkflows: 0,
  })
  const running = worker.run()
  stopWorker = async () => {
    worker.shutdown()
    await running
  }
})

afterAll(async () => {
  await stopWorker()
  await temporal.close()
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

async function addUser(userName: string): Promise<string> {
  const { publicKey, privateKey } = generateP256KeyPair()
  const apiKeys = [{ apiKeyName: 'laptop', publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const users = [{ userName, apiKeys, authenticators: [], oauthProviders: [], userTags: [] }]
  const { result } = await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users })
  const userId = (result as { createUsersResult: { userIds: string[] } }).createUsersResult.userIds[0]!
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [service.rootUserId, userId] })
  return privateKey
}

function makePlan(batches: readonly Batch[]): Plan {
  const { organizationId, rootUserId: userId, root, url: baseUrl } = service
  return makePlanOf({ organizationId, baseUrl, userId, publicKey: root.publicKey }, batches)
}

test('real service: ids travel, the raised quorum makes the next batch wait, a second person lets it through', async () => {
  const { organizationId } = service
  const { users } = await service.root.query('list_users')
  const plan = makePlan([
    {
      index: 0,
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      summary: 'create tag',
      parameters: { userTagName: 'treasury', userIds: [] },
      changes: ['tag.treasury'],
      after: [],
      produces: [{ address: 'tag.treasury', at: ['createUserTagResult', 'userTagId'] }],
    },
    {
      index: 1,
      type: 'ACTIVITY_TYPE_CREATE_POLICIES',
      summary: 'create policy',
      parameters: {
        policies: [
          {
            policyName: 'p',
            effect: 'EFFECT_ALLOW',
            consensus: { $text: ["approvers.any(user, user.tags.contains('", { $ref: 'tag.treasury' }, "'))"] },
            condition: "activity.kind == 'CREATE_WALLET'",
            notes: '',
          },
        ],
      },
      changes: ['policy.p'],
      after: [0],
      produces: [{ address: 'policy.p', at: ['createPoliciesResult', 'policyIds', 0] }],
    },
    {
      index: 2,
      type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
      summary: 'raise quorum',
      parameters: { threshold: 2, userIds: users.map(({ userId }) => userId) },
      changes: ['rootQuorum'],
      after: [1],
      produces: [],
    },
    {
      index: 3,
      type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
      summary: 'set feature',
      parameters: { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' },
      changes: ['feature.email-auth'],
      after: [2],
      produces: [],
    },
  ])
  await store.putPlan(plan)
  const handle = await temporal.client.workflow.start<typeof apply>('apply', {
    workflowId: `apply/${organizationId}`,
    taskQueue: organizationId,
    args: [{ organizationId, planDigest: plan.digest, run: await store.runs.open(plan.digest) }],
  })
  const progress = await askUntil(
    () => handle.query<ApplyProgress>('progress'),
    ({ state }) => state !== 'running',
  )
  expect(progress.batches.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed', 'waiting'])
  // Nobody has voted: it says so as soon as the API was asked, however long it may take to.
  expect((await askAnew(handle, 600_000)).state).toBe('waiting')
  await bob.approve(progress.batches[3]!.fingerprint!)
  expect((await askAnew(handle, 600_000)).state).not.toBe('waiting')
  const result = await handle.result()
  expect(result.state).toBe('done')
  expect(result.batches[3]!.votes!.approved).toHaveLength(2)

  const { policies } = await service.root.query('list_policies' as never)
  const { userTags } = (await service.root.query('list_user_tags' as never)) as { userTags: { tagId: string }[] }
  expect((policies as { consensus: string }[])[0]!.consensus).toContain(userTags[0]!.tagId)

  // Each intent is one activity at the service.
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const count = (type: string) => activities.filter((one) => one.type === type).length
  expect(plan.batches.map(({ type }) => count(type))).toEqual([1, 1, 2, 1])

  // Neither the acting key nor a stamp is in the history.
  const history = await handle.fetchHistory()
  const clear = await openHistory(history, handle.workflowId, testSeal)
  expect(clear).toContain('ACTIVITY_TYPE_CREATE_USER_TAG')
  expect(clear.toLowerCase()).not.toContain(service.root.privateKey.toLowerCase())
  expect(clear).not.toMatch(/SIGNATURE_SCHEME|X-Stamp/)
})
