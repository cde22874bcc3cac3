/** Two verbs: `startApply` begins an apply of a small plan; `ended` awaits its result, keeps its history and replays it. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { activityInfo } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'
import type { WorkflowBundle } from '@temporalio/worker'
import { type Activities, type ApplyProgress, createPlanStore, type PlanStore } from '../../activities/index.ts'
import type { ApplyPlace } from '../../src/operations/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import {
  connectTemporal,
  createWorker,
  makeCurrent,
  type TemporalSettings,
  type WorkerVersion,
} from '../../src/worker/index.ts'
import type { ApplyInput, apply } from '../../workflows/index.ts'
import { testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { askUntil } from './asking.ts'
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
  /** What the doors begin an apply with. */
  readonly applies: ApplyPlace
  startApply(tags: readonly TagBatch[], more?: Pick<ApplyInput, 'shownBy'>): Promise<Run>
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

interface StageOptions {
  readonly activities?: (usual: Activities) => Partial<Activities>
  readonly clock?: () => number
}

/** What a worker runs, where it is not what is built today. */
export interface StageWorker {
  readonly bundle?: WorkflowBundle
  readonly version?: WorkerVersion
}

/** Stages with one worker and one replayer for all of them, whose threads are what costs. */
export interface Stages {
  /** Sets up an organization of its own. */
  create(options?: StageOptions): Promise<Stage>
  /** Starts another worker beside those that run; ends it. */
  addWorker(worker: StageWorker): Promise<() => Promise<void>>
  /** The history of a workflow must replay. */
  replay(handle: WorkflowHandle<Apply>): Promise<void>
  /** Makes a version of the workers the current one. */
  makeCurrent(version: WorkerVersion): Promise<void>
  close(): Promise<void>
}

/**
 * Opens stages on the run's own Temporal server, or on another.
 * @default workers one, at the first stage; with `none`, those that are added
 */
export async function openStages(
  server?: TemporalSettings,
  { workers = 'one' }: { readonly workers?: 'one' | 'none' } = {},
): Promise<Stages> {
  const temporal = await connectTemporal(server ?? (await testTemporal()), testSeal)
  const bundle = await testBundle()
  const replayer = createReplayer(bundle)
  const taskQueue = `test-${randomUUID()}`
  const stages = new Map<string, Activities>()

  /** Each activity is done by the stage whose workflow asks for it. */
  const shared = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        (input: never) => {
          const stage = stages.get(activityInfo().workflowExecution!.workflowId)
          return (stage![name as keyof Activities] as (input: never) => Promise<unknown>)(input)
        },
      ]),
    ) as unknown as Activities

  let names: readonly string[] = []
  const stops: (() => Promise<void>)[] = []
  const startWorker = async (activities: Activities, { bundle: own, version }: StageWorker = {}) => {
    // Without a cache every workflow task is a replay: what is not deterministic shows at once.
    const worker = await createWorker({
      connection: await temporal.openForWorker(),
      namespace: temporal.namespace,
      seal: testSeal,
      taskQueue,
      activities,
      workflowBundle: own ?? bundle,
      maxCachedWorkflows: 0,
      ...(version ? { version } : {}),
    })
    const running = worker.run()
    let stopping: Promise<void> | undefined
    const stop = () => {
      if (!stopping) worker.shutdown()
      stopping ??= running
      return stopping
    }
    stops.push(stop)
    return stop
  }

  return {
    async create(options = {}) {
      const organizationId = randomUUID()
      const workflowId = `apply/${organizationId}`
      const api = await startSmallApi(organizationId)
      const folder = mkdtempSync(join(tmpdir(), 'quorate-store-'))
      const storeFolder = join(folder, 'plans')
      const store = createPlanStore(storeFolder)
      const usual = smallActivities(store, {
        baseUrl: api.baseUrl,
        organizationId,
        ...(options.clock ? { clock: options.clock } : {}),
      })
      stages.set(workflowId, { ...usual, ...options.activities?.(usual) })
      names = Object.keys(usual)
      if (workers === 'one' && stops.length === 0) await startWorker(shared(names))
      return {
        organizationId,
        api,
        store,
        storeFolder,
        applies: { client: temporal.client, organizationId, taskQueue, dataDir: folder },
        async startApply(tags, more) {
          const plan = makeTagPlan(organizationId, api.baseUrl, tags)
          await store.putPlan(plan)
          const handle = await temporal.client.workflow.start<Apply>('apply', {
            workflowId,
            taskQueue,
            args: [{ organizationId, planDigest: plan.digest, run: await store.runs.open(plan.digest), ...more }],
          })
          return {
            plan,
            handle,
            history: () => handle.fetchHistory(),
            until: (wanted) => askUntil(() => handle.query<ApplyProgress>('progress'), wanted),
            async ended(record) {
              const result = await handle.result()
              await replayer.replayOf(handle, record)
              return result
            },
          }
        },
        async close() {
          await api.close()
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
    addWorker: (worker) => startWorker(shared(names), worker),
    replay: (handle) => replayer.replayOf(handle),
    makeCurrent: (version) => makeCurrent(temporal.client, { namespace: temporal.namespace, ...version }),
    async close() {
      await Promise.all(stops.map((stop) => stop()))
      await replayer.close()
      await temporal.close()
    },
  }
}

export function states(progress: ApplyProgress): readonly string[] {
  return progress.batches.map(({ state }) => state)
}
