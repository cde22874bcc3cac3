import { join } from 'node:path'
import { createActivities, createPlanStore } from '../../activities/index.ts'
import { createClients, createSendClients, createWatchPlanner, isApplying, taskQueueOf } from '../operations/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { createWorker, type TemporalConnections, type WorkerOptions } from '../worker/index.ts'

/** The key of a worker, and the limits of its rates. */
type WorkerPlace = Parameters<typeof createSendClients>[0]
type WorkerSettings = Parameters<typeof createSendClients>[1]

/** Makes the worker of an organization's applies and sends; `run()` works until `shutdown()`. */
export async function createOrganizationWorker(
  temporal: TemporalConnections,
  place: WorkerPlace,
  settings: WorkerSettings,
  { logger, serviceAheadMs, ...more }: OrganizationWorkerOptions,
): ReturnType<typeof createWorker> {
  return createWorker({
    ...more,
    connection: await temporal.openForWorker(),
    namespace: temporal.namespace,
    taskQueue: taskQueueOf(place.organizationId),
    seal: temporal.seal,
    activities: createActivities({
      clientFor: createClients(place, settings),
      sendClientFor: createSendClients(place, settings),
      planStore: createPlanStore(join(settings.dataDir, 'plans')),
      clock: Date.now,
      planWatched: createWatchPlanner(place, settings),
      isApplying: (organizationId) => isApplying(temporal.client, organizationId),
      logger,
      ...(serviceAheadMs ? { serviceAheadMs } : {}),
    }),
  })
}

interface OrganizationWorkerOptions extends Pick<WorkerOptions, 'workflowBundle'> {
  readonly logger: Logger
  /** How far an embedded service's time is ahead. @default it is not */
  readonly serviceAheadMs?: () => number
}
