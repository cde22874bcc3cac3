/** Two verbs: `startApply` begins an apply of a small plan; `ended` awaits its result, keeps its history and replays it. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import type { WorkflowBundle } from '@temporalio/worker'
import { type Activities, type ApplyProgress, createPlanStore, type PlanStore } from '../../activities/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import { connectTemporal, createWorker, type TemporalSettings } from '../../src/worker/index.ts'
import type { apply } from '../../workflows/index.ts'
import { testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import type { History } from './history-json.ts'
import { createReplayer } from './recorded.ts'
import { smallActivities } from './small-activities.ts'
import { type SmallApi, startSmallApi } from './small-api.ts'
import { makeTagPlan, type TagBatch } from './tag-plan.ts'

type Apply = typeof apply

export interface Stage {
  readonly organizationId: string
  readonly api: SmallApi
  readonly store: PlanStore
  readonly storeFolder: string
  readonly taskQueue: string
  readonly bundle: WorkflowBundle
  startApply(tags: readonly TagBatch[]): Promise<Run>
  close(): Promise<void>
}

export interface Run {
  readonly plan: Plan
  readonly handle: WorkflowHandle<Apply>
  /** Asks until the progress is as wanted. */
  until(wanted: (progress: ApplyProgress) => boolean): Promise<ApplyProgress>
  /** Awaits the result; the history must replay. `record` keeps it under that name when histories are recorded. */
  ended(record?: string): Promise<ApplyProgress>
  history(): Promise<History>
}

/** Sets up an organization of its own on the run's Temporal server, with a worker unless `worker` is false. */
export async function createStage(
  options: {
    readonly worker?: boolean
    readonly activities?: (usual: Activities) => Partial<Activities>
    readonly clock?: () => number
    /** @default the run's own Temporal server */
    readonly temporal?: TemporalSettings
  } = {},
): Promise<Stage> {
  const organizationId = randomUUID()
  const api = await startSmallApi(organizationId)
  const folder = mkdtempSync(join(tmpdir(), 'quorate-store-'))
  const storeFolder = join(folder, 'plans')
  const store = createPlanStore(storeFolder)
  const taskQueue = `test-${organizationId}`
  const temporal = await connectTemporal(options.temporal ?? (await testTemporal()), testSeal)
  const bundle = await testBundle()
  const usual = smallActivities(store, {
    baseUrl: api.baseUrl,
    organizationId,
    ...(options.clock ? { clock: options.clock } : {}),
  })
  const activities = { ...usual, ...options.activities?.(usual) }
  // Without a cache every workflow task is a replay: what is not deterministic shows at once.
  const worker =
    options.worker === false
      ? undefined
      : await createWorker({
          connection: await temporal.openForWorker(),
          seal: testSeal,
          taskQueue,
          activities,
          workflowBundle: bundle,
          maxCachedWorkflows: 0,
        })
  const running = worker?.run()
  const replayer = createReplayer(bundle)

  return {
    organizationId,
    api,
    store,
    storeFolder,
    taskQueue,
    bundle,
    async startApply(tags) {
      const plan = makeTagPlan(organizationId, api.baseUrl, tags)
      await store.putPlan(plan)
      const handle = await temporal.client.workflow.start<Apply>('apply', {
        workflowId: `apply/${organizationId}`,
        taskQueue,
        args: [{ organizationId, planDigest: plan.digest, run: await store.runs.open(plan.digest) }],
        workflowTaskTimeout: '2s',
      })
      const history = () => handle.fetchHistory()
      return {
        plan,
        handle,
        history,
        async until(wanted) {
          for (;;) {
            const progress = await handle.query<ApplyProgress>('progress')
            if (wanted(progress)) return progress
          }
        },
        async ended(record) {
          const result = await handle.result()
          await replayer.replayOf(handle, record)
          return result
        },
      }
    },
    async close() {
      worker?.shutdown()
      await running
      await replayer.close()
      await temporal.close()
      await api.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function states(progress: ApplyProgress): readonly string[] {
  return progress.batches.map(({ state }) => state)
}
