/** The organization of the attack: alice and bob form a quorum of two, and a worker holds alice's key. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { type Activities, createActivities, createPlanStore, type PlanStore } from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import type { Batch, Plan } from '../../src/plan/index.ts'
import type { ActivityType, Wire } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { createWorker, type TemporalConnections } from '../../src/worker/index.ts'
import type { apply } from '../../workflows/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService, type TestUser } from '../service/harness.ts'
import { connectTestTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { makePlanOf } from '../workflows/made-plan.ts'

export interface TrustStageOptions {
  /** Chains of the service. @default none */
  readonly chains?: NonNullable<Parameters<typeof startTestService>[0]>['chains']
  /** Called when a step is done, before anybody is told of it. */
  readonly afterStep?: (name: string) => Promise<void>
}

export interface TrustStage {
  readonly service: TestService
  readonly bob: TestUser
  readonly temporal: TemporalConnections
  readonly store: PlanStore
  readonly storeFolder: string
  readonly activities: Activities
  readonly taskQueue: string
  readonly organizationId: string
  readonly workflowId: string
  /** Every request to sign that left the worker: paths and bodies. */
  readonly submits: readonly { readonly path: string; readonly body: string }[]
  plan(batches: readonly Batch[]): Plan
  /** Applies a plan as `quorate apply` does. */
  startApply(plan: Plan): Promise<WorkflowHandle<typeof apply>>
  /** Asks for two approvals, until what it returns has been awaited. */
  needTwo(): Promise<() => Promise<void>>
  /** Bob proposes a root quorum of himself alone. */
  proposeCoup(): Promise<Wire.Activity>
  read(activityId: string): Promise<Wire.Activity>
  count(type: ActivityType): Promise<number>
  stopWorker(): Promise<void>
  /** `steps: false` leaves every step to another worker of the queue. */
  startWorker(options?: { readonly steps: boolean }): Promise<void>
  close(): Promise<void>
}

export async function openTrustStage(options: TrustStageOptions = {}): Promise<TrustStage> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-trust-'))
  const store = createPlanStore(join(folder, 'plans'))
  const service = await startTestService(options.chains ? { chains: options.chains } : {})
  const bob = await createTestUser(service, 'bob')
  const temporal = await connectTestTemporal()
  const { organizationId, rootUserId: userId, root, url: baseUrl } = service
  const stamper = createApiKeyStamper({ privateKey: new Secret(root.privateKey) })
  const submits: { path: string; body: string }[] = []
  const real = createSubmitClient({ baseUrl, organizationId, stamper })
  const client: SubmitClient = {
    ...real,
    submit(path, body, options) {
      submits.push({ path, body })
      return real.submit(path, body, options)
    },
  }
  const { afterStep = async () => {} } = options
  const activities = after(
    createActivities({ clientFor: () => client, planStore: store, clock: Date.now, logger: silentLogger }),
    afterStep,
  )
  const taskQueue = `quorate/${organizationId}`
  const workflowBundle = await testBundle()
  let stop: (() => Promise<void>) | undefined

  const stage: TrustStage = {
    service,
    bob,
    temporal,
    store,
    storeFolder: join(folder, 'plans'),
    activities,
    taskQueue,
    organizationId,
    workflowId: `apply/${organizationId}`,
    submits,
    plan: (batches) => makePlanOf({ organizationId, baseUrl, userId, publicKey: root.publicKey }, batches),
    async startApply(plan) {
      await store.putPlan(plan)
      return temporal.client.workflow.start<typeof apply>('apply', {
        workflowId: stage.workflowId,
        taskQueue,
        args: [{ organizationId, planDigest: plan.digest, run: await store.runs.open(plan.digest) }],
        workflowTaskTimeout: '2s',
      })
    },
    async needTwo() {
      const userIds = [service.rootUserId, bob.userId]
      await complete(root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
      return async () => {
        const one = { threshold: 1, userIds: [service.rootUserId] }
        const { fingerprint } = await root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', one)
        await bob.client.approve(fingerprint)
      }
    },
    proposeCoup: () => bob.client.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [bob.userId] }),
    read: async (activityId) => (await root.query('get_activity', { activityId })).activity,
    async count(type) {
      const paginationOptions = { limit: '100' }
      return (await root.query('list_activities', { filterByType: [type], paginationOptions })).activities.length
    },
    async startWorker({ steps } = { steps: true }) {
      const worker = await createWorker({
        connection: await temporal.openForWorker(),
        seal: testSeal,
        taskQueue,
        activities: steps ? activities : ({} as Activities),
        workflowBundle,
        maxCachedWorkflows: 0,
      })
      const running = worker.run()
      stop = async () => {
        worker.shutdown()
        await running
      }
    },
    async stopWorker() {
      await stop?.()
      stop = undefined
    },
    async close() {
      await stage.stopWorker()
      await temporal.close()
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await stage.startWorker()
  return stage
}

function after(activities: Activities, done: (name: string) => Promise<void>): Activities {
  const each = Object.entries(activities).map(([name, step]) => [
    name,
    async (input: never) => {
      const answer = await (step as (given: never) => Promise<unknown>)(input)
      await done(name)
      return answer
    },
  ])
  return Object.fromEntries(each) as Activities
}
