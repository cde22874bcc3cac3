import { fileURLToPath } from 'node:url'
import type { NativeConnection, Worker, WorkflowBundle } from '@temporalio/worker'
import type { Activities } from '../../activities/index.ts'
import { createHeartbeat } from './heartbeat.ts'

export interface WorkerOptions {
  readonly connection: NativeConnection
  readonly taskQueue: string
  readonly activities: Activities
  /** @default 'default' */
  readonly namespace?: string
  /** Made before by `bundleWorkflows`, to save a second. @default bundled here */
  readonly workflowBundle?: WorkflowBundle
  /** 0 makes every workflow task a replay. @default the SDK's own, by memory */
  readonly maxCachedWorkflows?: number
}

/** The task queue of everything that quorate runs. */
export const TASK_QUEUE = 'quorate'

/** The folder of workflows: beside the sources as `.ts`, beside the built files as `.js`. */
export const workflowsPath = fileURLToPath(
  new URL(`../../workflows/index${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
)

/** Bundles the workflows. Fails when one of them reaches a Node built-in: workflows decide, they do no I/O. */
export async function bundleWorkflows(path: string = workflowsPath): Promise<WorkflowBundle> {
  const { bundleWorkflowCode } = await import('@temporalio/worker')
  return bundleWorkflowCode({ workflowsPath: path, logger: quiet })
}

/** Makes a worker; `run()` works until `shutdown()`. */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { connection, taskQueue, activities, namespace = 'default', maxCachedWorkflows } = options
  const { Worker: TemporalWorker } = await import('@temporalio/worker')
  return TemporalWorker.create({
    connection,
    namespace,
    taskQueue,
    activities,
    workflowBundle: options.workflowBundle ?? (await bundleWorkflows()),
    interceptors: { activity: [(context) => ({ inbound: createHeartbeat(context) })] },
    shutdownGraceTime: '10s',
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  })
}

const silent = () => {}
/** The bundler's progress is nobody's news; its faults are thrown. */
const quiet = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent }
