import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Context } from '@temporalio/activity'
import type { DataConverter } from '@temporalio/common'
import type { NativeConnection, Worker, WorkflowBundle, WorkflowBundleOption } from '@temporalio/worker'
import type { Activities } from '../../activities/index.ts'
import { deploymentOptions, type WorkerVersion } from './deployment.ts'
import { createHeartbeat } from './heartbeat.ts'
import type { PayloadSeal } from './payload-seal.ts'
import { createStepSpans } from './spans.ts'
import { createStepCount, type OnStep } from './step-count.ts'
import { wrapResult } from './wrap-result.ts'

export interface WorkerOptions {
  readonly connection: NativeConnection
  readonly taskQueue: string
  readonly activities: Activities
  /** What payloads are sealed with; what was not is refused. */
  readonly seal: PayloadSeal
  /** @default 'default' */
  readonly namespace?: string
  /** Made before by `bundleWorkflows`, to save a second. @default the one of the build; from sources, bundled here */
  readonly workflowBundle?: WorkflowBundleOption
  /** 0 makes every workflow task a replay. @default the SDK's own, by memory */
  readonly maxCachedWorkflows?: number
  /** Which version of the organization's workers it is. @default none: it takes what is of no version */
  readonly version?: WorkerVersion
  /** Told of each step (Temporal activity) that is over. */
  readonly onStep?: OnStep
}

/** A file by its path from this folder: `.ts` beside the sources, `.js` beside the built files. */
function fileOf(path: string): string {
  return fileURLToPath(new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url))
}

/** The folder of workflows. */
export const workflowsPath = fileOf('../../workflows/index')

/** The bundle that the build leaves beside what it builds. */
export const WORKFLOWS_FILE = 'workflow-bundle.cjs'

/** Bundles the workflows. Fails when one of them reaches a Node built-in: workflows decide, they do no I/O. */
export async function bundleWorkflows(path: string = workflowsPath): Promise<WorkflowBundle> {
  const { bundleWorkflowCode } = await import('@temporalio/worker')
  return bundleWorkflowCode({
    workflowsPath: path,
    workflowInterceptorModules: [fileOf('../../workflows/interceptors')],
    payloadConverterPath: fileOf('../../workflows/payload-converter'),
    failureConverterPath: fileOf('../../workflows/failure-converter'),
    logger: quiet,
  })
}

async function findWorkflows(): Promise<WorkflowBundleOption> {
  const built = fileURLToPath(new URL(WORKFLOWS_FILE, import.meta.url))
  return existsSync(built) ? { codePath: built } : bundleWorkflows()
}

/** Makes a worker; `run()` works until `shutdown()`. */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const {
    connection,
    taskQueue,
    activities,
    seal,
    namespace = 'default',
    maxCachedWorkflows,
    onStep,
    version,
  } = options
  const { Worker: TemporalWorker } = await import('@temporalio/worker')
  return TemporalWorker.create({
    connection,
    namespace,
    taskQueue,
    activities,
    identity: 'quorate',
    dataConverter: createDataConverter(seal),
    workflowBundle: options.workflowBundle ?? (await findWorkflows()),
    interceptors: {
      activity: [
        ...(onStep ? [(context: Context) => ({ inbound: createStepCount(context, onStep) })] : []),
        (context) => ({ inbound: createStepSpans(context) }),
        (context) => ({ inbound: createHeartbeat(context) }),
        () => ({ inbound: wrapResult }),
      ],
    },
    shutdownGraceTime: '10s',
    ...(version ? { workerDeploymentOptions: deploymentOptions(version) } : {}),
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  })
}

/** How payloads are read and sealed outside of workflows: by a worker, and where histories are replayed. */
export function createDataConverter({ codec }: PayloadSeal): DataConverter {
  const path = fileOf('./payload-converter')
  return { payloadConverterPath: path, failureConverterPath: path, payloadCodecs: [codec] }
}

const silent = () => {}
/** The bundler's progress is nobody's news; its faults are thrown. */
const quiet = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent }
