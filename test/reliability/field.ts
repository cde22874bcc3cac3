/**
 * An apply whose workers and server can be killed: a service of its own behind a network that is slow to answer submits,
 * a plan of pairs, and workers that are processes. Its plan is started, and the caller that kills workers sees that it ends.
 */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowFailedError } from '@temporalio/client'
import { type ApplyProgress, createPlanStore, movePlanStore, parseStorePlace } from '../../activities/index.ts'
import type { Batch, Plan } from '../../src/plan/index.ts'
import { connectTemporal, type TemporalSettings } from '../../src/worker/index.ts'
import type { apply } from '../../workflows/index.ts'
import { type Between, type Meddle, startBetween } from '../faults/between.ts'
import { countByIntent } from '../faults/count.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { makePlanOf } from '../workflows/made-plan.ts'
import { startWorkerProcess } from './start-worker.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

export interface Field {
  readonly service: TestService
  readonly between: Between
  readonly plan: Plan
  /** Starts one more worker process. */
  startWorker(): Promise<ChildProcess>
  /** Submits that came, repeated ones too. */
  submits(): number
  /** Awaits the result, whatever connections break meanwhile. */
  result(): Promise<ApplyProgress>
  /** Gives up on the apply. */
  terminate(): Promise<void>
  /** How often each intent became an activity, as the service itself lists them. */
  counts(): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}

export interface FieldOptions {
  readonly temporal: TemporalSettings
  readonly batches: readonly Batch[]
  /** Lets each worker make its bodies itself, which must show. @default false */
  readonly naive?: boolean
  /** What the network does to requests; submits are slow without it. */
  readonly meddle?: Meddle
  /** Where the plan store is that machines share: each worker has a data folder of its own then. @default they share one */
  readonly sharedPlace?: string
}

/** Long enough that a kill often falls between an activity being carried out and its answer. */
const ANSWER_AFTER_MS = 60

/** Opens a field and starts the apply; no worker runs yet. */
export async function openField({
  temporal: server,
  batches,
  naive = false,
  meddle,
  sharedPlace,
}: FieldOptions): Promise<Field> {
  const workers = new Set<ChildProcess>()
  let closed = false
  const service = await startTestService()
  const between = await startBetween(service.url, meddle ?? slowly)
  const storeFolder = mkdtempSync(join(tmpdir(), 'quorate-kill-'))
  const bundleFile = join(storeFolder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const { organizationId, rootUserId: userId, root } = service
  const settings: WorkerProcessSettings = {
    temporal: server,
    taskQueue: `kill-${randomUUID()}`,
    baseUrl: between.url,
    organizationId,
    privateKey: root.privateKey,
    storeFolder,
    bundleFile,
    naive,
  }
  const plan = makePlanOf({ organizationId, baseUrl: between.url, userId, publicKey: root.publicKey }, batches)
  const place = sharedPlace === undefined ? undefined : parseStorePlace(sharedPlace)
  if (place) await movePlanStore(join(storeFolder, 'plans'), place)
  const store = createPlanStore(join(storeFolder, 'plans'))
  await store.putPlan(plan)
  let machines = 0
  /** A machine that has nothing of the others but the key of what they share. */
  const machine = async () => {
    if (!place) return settings
    const folder = join(storeFolder, `machine-${++machines}`)
    mkdirSync(folder, { mode: 0o700 })
    copyFileSync(join(storeFolder, 'plans.key'), join(folder, 'plans.key'))
    await movePlanStore(join(folder, 'plans'), place)
    return { ...settings, storeFolder: folder }
  }
  const temporal = await connectTemporal(server, testSeal)
  const handle = await temporal.client.workflow.start<typeof apply>('apply', {
    workflowId: `apply/${organizationId}`,
    taskQueue: settings.taskQueue,
    args: [{ organizationId, planDigest: plan.digest, run: await store.runs.open(plan.digest) }],
  })

  return {
    service,
    between,
    plan,
    async startWorker() {
      const worker = startWorkerProcess(await machine())
      workers.add(worker)
      return worker
    },
    submits: () => between.passed.filter(({ submits }) => submits).length,
    async result() {
      while (!closed) {
        try {
          return await handle.result()
        } catch (error) {
          if (error instanceof WorkflowFailedError) throw error
          await delay(500)
        }
      }
      throw new Error('the field was closed')
    },
    async terminate() {
      await handle.terminate()
    },
    counts: () => countByIntent(root, organizationId),
    async close() {
      closed = true
      for (const worker of workers) await kill(worker)
      await temporal.close()
      await between.close()
      await service.close()
      rmSync(storeFolder, { recursive: true, force: true })
    },
  }
}

const slowly: Meddle = ({ submits }) => (submits ? { kind: 'late', ms: ANSWER_AFTER_MS } : undefined)

/** Kills a process, as a power cut would, and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** How many intents are more than one activity. */
export function twins(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].filter((count) => count > 1).length
}
