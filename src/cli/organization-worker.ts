import { join } from 'node:path'
import { createActivities, createPlanStore, type OnApply } from '../../activities/index.ts'
import { takeEnvironment } from '../config/index.ts'
import { p256PublicKey } from '../crypto/index.ts'
import {
  createClients,
  createCommitReader,
  createSendClients,
  createWatchPlanner,
  isApplying,
  progressOfApply,
  progressOfRotations,
  progressOfSends,
  registerSearchAttributes,
  rotationKeysOf,
  submitter,
  taskQueueOf,
  whereShown,
} from '../operations/index.ts'
import type { Logger, Secret } from '../telemetry/index.ts'
import { createWorker, type TemporalConnections, type WorkerOptions } from '../worker/index.ts'

/** The key of a worker, and the limits of its rates. */
type WorkerPlace = Parameters<typeof createSendClients>[0]
type WorkerSettings = Parameters<typeof createSendClients>[1]

/** Makes the worker of an organization's applies and sends; `run()` works until `shutdown()`. */
export async function createOrganizationWorker(
  temporal: TemporalConnections,
  place: WorkerPlace,
  settings: WorkerSettings,
  { logger, serviceAheadMs, onKey, onApply, ...more }: OrganizationWorkerOptions,
): ReturnType<typeof createWorker> {
  const clientsOf = (of: WorkerPlace) => ({
    own: createClients(of, settings),
    sends: createSendClients(of, settings),
    plan: createWatchPlanner(of, settings),
  })
  let clients = clientsOf(place)
  const useKey = (privateKey: Secret) => {
    const key = openKey(privateKey)
    clients = clientsOf({ ...place, key })
    onKey?.(key.publicKey)
    logger.info('the worker acts with its new key', { publicKey: key.publicKey })
  }
  temporal.seal.onMissingKey((keyId) =>
    logger.error('a payload was sealed with a payload key that this worker does not have', {
      missing: keyId,
      has: temporal.seal.keyIds.join(', '),
      from: temporal.seal.where,
      next: 'give it to this worker as a line below the first (docs/trust.md#the-key-of-the-payloads) and start it again',
    }),
  )
  const lacking = await registerSearchAttributes(temporal.client)
  if (lacking !== undefined)
    logger.info('Temporal has no search attributes for its workflows; their memos say the same', { said: lacking })
  return createWorker({
    ...more,
    connection: await temporal.openForWorker(),
    namespace: temporal.namespace,
    taskQueue: taskQueueOf(place.organizationId),
    seal: temporal.seal,
    activities: createActivities({
      clientFor: (organization) => clients.own(organization),
      sendClientFor: (organization) => clients.sends(organization),
      rotation: {
        keysFolder: rotationKeysOf(settings.dataDir),
        clientWith: ({ id }, privateKey) => submitter({ ...place, organizationId: id, key: openKey(privateKey) }),
        useKey,
        stores: { environment: takeEnvironment() },
      },
      planStore: createPlanStore(join(settings.dataDir, 'plans')),
      clock: Date.now,
      planWatched: (watched) => clients.plan(watched),
      readCommit: createCommitReader(settings.dataDir, takeEnvironment()),
      isApplying: (organizationId, inside) => isApplying(temporal.client, organizationId, inside),
      whereShown: () => whereShown(temporal.client),
      progressOfApply: (organizationId) => progressOfApply(temporal.client, organizationId),
      progressOfSends: (organizationId) =>
        progressOfSends({ client: temporal.client, taskQueue: taskQueueOf(organizationId), organizationId }),
      progressOfRotations: (organizationId) =>
        progressOfRotations({ client: temporal.client, organizationId, dataDir: settings.dataDir }),
      noticeEnvironment: takeEnvironment(),
      logger,
      ...(serviceAheadMs ? { serviceAheadMs } : {}),
      ...(onApply ? { onApply } : {}),
    }),
  })
}

const openKey = (privateKey: Secret) => ({ privateKey, publicKey: p256PublicKey(privateKey.reveal()) })

interface OrganizationWorkerOptions extends Pick<WorkerOptions, 'workflowBundle' | 'onStep' | 'version'> {
  readonly logger: Logger
  /** How far an embedded service's time is ahead. @default it is not */
  readonly serviceAheadMs?: () => number
  readonly onApply?: OnApply
  /** Told of the public key of a new key that takes the place of the worker's own. */
  readonly onKey?: (publicKey: string) => void
}
