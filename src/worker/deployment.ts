/** Versions of workers (Temporal's Worker Deployments): which workflows a worker takes, and which worker takes new ones. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, isGrpcServiceError } from '@temporalio/client'
import type { WorkerDeploymentOptions } from '@temporalio/worker'
import { WorkerError } from './error.ts'

/**
 * `auto-upgrade`: a workflow goes on at whichever version is current · `pinned`: it ends at the version that began it, whose
 * workers stay until then.
 */
export const VERSIONINGS = ['auto-upgrade', 'pinned'] as const
export type Versioning = (typeof VERSIONINGS)[number]

/** The version that a worker is. */
export interface WorkerVersion {
  /** All versions of it share a task queue. */
  readonly deployment: string
  readonly buildId: string
  readonly versioning: Versioning
}

/** The settings of the SDK. */
export function deploymentOptions({ deployment, buildId, versioning }: WorkerVersion): WorkerDeploymentOptions {
  return {
    version: { deploymentName: deployment, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: versioning === 'pinned' ? 'PINNED' : 'AUTO_UPGRADE',
  }
}

/** A version is known to the server once its worker has polled. */
const KNOWN_WITHIN_MS = 60_000
const PAUSE_MS = 500
/** gRPC: NOT_FOUND, FAILED_PRECONDITION. What another change of the deployment gets in the way of is aborted or unavailable. */
const NOT_YET: ReadonlySet<number> = new Set([5, 9, 10, 14])

/** `ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS`; a server that does not say is done once it has answered. */
const BEING_TOLD = 1

/**
 * Makes a version the current one, whose workers take new workflows and those that upgrade, and waits until all task queues have been
 * told: one that has not would still give what begins to the version before. Its worker must run. Throws `worker/version-refused`,
 * also where the server does not know it, or has not told them, within a minute.
 */
export async function makeCurrent(
  { workflowService }: Pick<Connection, 'workflowService'>,
  { namespace, deployment, buildId }: Pick<WorkerVersion, 'deployment' | 'buildId'> & { readonly namespace: string },
): Promise<void> {
  const until = Date.now() + KNOWN_WITHIN_MS
  const asked = { namespace, deploymentName: deployment }
  for (;;) {
    try {
      await workflowService.setWorkerDeploymentCurrentVersion({ ...asked, buildId })
      break
    } catch (error) {
      if (!isGrpcServiceError(error)) throw error
      if (!NOT_YET.has(error.code) || Date.now() > until) {
        throw new WorkerError('worker/version-refused', `Temporal does not make version ${buildId} the current one`, {
          facts: { deployment, said: error.details },
          cause: error,
        })
      }
    }
    await delay(PAUSE_MS)
  }
  for (; ; await delay(PAUSE_MS)) {
    const { workerDeploymentInfo: told } = await workflowService.describeWorkerDeployment(asked)
    if (told?.routingConfigUpdateState !== BEING_TOLD) return
    if (Date.now() > until) {
      throw new WorkerError('worker/version-refused', `Temporal does not make version ${buildId} the current one`, {
        facts: { deployment, said: 'some task queues have not been told of it yet' },
      })
    }
  }
}
