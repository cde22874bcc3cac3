/** A service, a worker and a plan store whose clocks are all that of Temporal's test server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { type Activities, createActivities, createPlanStore, type PlanStore } from '../../../activities/index.ts'
import { createRate, createSubmitClient, type SubmitClient } from '../../../src/client/index.ts'
import { p256PublicKey } from '../../../src/crypto/index.ts'
import { createWatchPlanner, rotationKeysOf } from '../../../src/operations/index.ts'
import { createApiKeyStamper } from '../../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../../src/telemetry/index.ts'
import { connectTemporal, createWorker, type TemporalConnections } from '../../../src/worker/index.ts'
import { startTestService, type TestService } from '../../service/harness.ts'
import { testSeal } from '../../test-seal.ts'
import { testBundle } from '../../worker-runtime.ts'
import { startTimeServer, type TimeServer } from './server.ts'

export interface Desk {
  readonly time: TimeServer
  readonly service: TestService
  readonly temporal: TemporalConnections
  readonly store: PlanStore
  readonly folder: string
  /** As the worker acts. */
  readonly root: SubmitClient
  /** How many events each run of a workflow has, the first one first. */
  lengthsOf(handle: WorkflowHandle): Promise<readonly number[]>
  close(): Promise<void>
}

export async function openDesk(): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-time-'))
  const store = createPlanStore(join(folder, 'plans'))
  const time = await startTimeServer()
  const service = await startTestService({ clock: time.now })
  const temporal = await connectTemporal({ address: time.address }, testSeal)
  const { organizationId, url: baseUrl } = service
  const clientOf = (privateKey: Secret) =>
    createSubmitClient({ baseUrl, organizationId, stamper: createApiKeyStamper({ privateKey }) })
  const privateKey = new Secret(service.root.privateKey)
  const key = { privateKey, publicKey: p256PublicKey(privateKey.reveal()) }
  const root = clientOf(privateKey)
  const place = { baseUrl, organizationId, key, rate: createRate({}), subOrganizationKeys: undefined }
  const activities = createActivities({
    clientFor: () => root,
    planStore: store,
    clock: time.now,
    logger: silentLogger,
    planWatched: createWatchPlanner(place, { dataDir: folder }),
    rotation: {
      keysFolder: rotationKeysOf(folder),
      clientWith: (_, own) => clientOf(own),
      useKey: () => {},
      stores: { environment: {} },
    },
  })
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    seal: testSeal,
    taskQueue: organizationId,
    activities: atTimeOf(time, activities),
    workflowBundle: await testBundle(),
  })
  const running = worker.run()
  return {
    time,
    service,
    temporal,
    store,
    folder,
    root,
    async lengthsOf({ workflowId }) {
      const lengths: number[] = []
      for (let runId = (await firstOf(workflowId)) as string | undefined; runId; ) {
        const { events = [] } = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory()
        lengths.push(events!.length)
        runId = events!.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
      }
      return lengths
    },
    async close() {
      worker.shutdown()
      await running
      await temporal.close()
      await service.close()
      await time.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }

  async function firstOf(workflowId: string): Promise<string> {
    const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory()
    return events![0]!.workflowExecutionStartedEventAttributes!.firstExecutionRunId!
  }
}

/** Each step begins at the time of the server, which has gone on since the last one. */
function atTimeOf(time: TimeServer, activities: Activities): Activities {
  const timed = Object.entries(activities).map(([name, run]) => [
    name,
    async (input: unknown) => {
      await time.look()
      return (run as (given: unknown) => Promise<unknown>)(input)
    },
  ])
  return Object.fromEntries(timed) as Activities
}
