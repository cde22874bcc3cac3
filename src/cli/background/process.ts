import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createActivities, createPlanStore } from '../../../activities/index.ts'
import { EXIT, type ExitCode, toErrorJson } from '../../diagnostics/index.ts'
import { createService } from '../../service/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { connectTemporal, createWorker, routeTemporalLogs } from '../../worker/index.ts'
import { taskQueueOf } from '../applying.ts'
import { readChains } from '../chains.ts'
import type { CommandInput } from '../command.ts'
import { bootstrapKey, createClients, createSendClients, loadKey, rateOf } from '../connect.ts'
import { createLog } from '../logger.ts'
import { listensToOperator } from '../service-folder.ts'
import { namedTemporal } from '../temporal.ts'
import { version } from '../version.ts'
import { listenForControl } from './control.ts'
import { startEmbeddedTemporal } from './embedded-temporal.ts'
import type { BackgroundNews, BackgroundStart, BackgroundStatus } from './model.ts'

/**
 * What `up` runs in the background: the embedded service (unless another API is named), the Temporal server (unless
 * TEMPORAL_ADDRESS names one) and a worker. It ends on SIGTERM, SIGINT, or `quorate down`, in reverse order of coming up.
 */
export async function background({ environment }: CommandInput): Promise<ExitCode> {
  const start = await new Promise<BackgroundStart>((resolve) =>
    process.once('message', resolve as (value: unknown) => void),
  )
  const closers: (() => Promise<void> | void)[] = []
  const close = async () => {
    for (const one of closers.reverse()) await one()
  }
  try {
    const stopped = Promise.withResolvers<void>()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
    const status = await comeUp(start, environment, closers, stopped.resolve)
    tell({ kind: 'ready', status })
    await stopped.promise
    await close()
    return EXIT.done
  } catch (error) {
    tell({ kind: 'failed', error: toErrorJson(error) })
    await close()
    return EXIT.error
  }
}

async function comeUp(
  start: BackgroundStart,
  environment: CommandInput['environment'],
  closers: (() => Promise<void> | void)[],
  stop: () => void,
): Promise<BackgroundStatus> {
  const { dataDir } = start
  const { logger } = createLog()
  await routeTemporalLogs(logger)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const named = namedTemporal(environment)
  // The two slow things side by side: Temporal may have to be built the first time.
  const [embedded, service] = await Promise.all([
    named
      ? undefined
      : startEmbeddedTemporal(dataDir, {
          environment,
          announce,
          closers,
          onDeath: (how) => {
            logger.error('the embedded Temporal server died; everything else here ends too', { how })
            stop()
          },
        }),
    start.baseUrl === undefined
      ? createService({
          dataDir: join(dataDir, 'service'),
          logger,
          operator: listensToOperator(environment),
          chains: readChains({}, environment),
          ...(start.rootUserName === undefined ? {} : { rootUserName: start.rootUserName }),
          ...(start.organizationName === undefined ? {} : { organizationName: start.organizationName }),
        })
      : undefined,
  ])
  if (service) closers.push(() => service.close())
  const operator = () => service?.operator?.() ?? { aheadMs: 0, faults: [] }
  const baseUrl = start.baseUrl ?? service!.url
  const organizationId = start.organizationId ?? service!.bootstrap.organizationId
  const key =
    start.privateKey === undefined
      ? await loadKey(bootstrapKey(dataDir), start)
      : await loadKey({ kind: 'value', value: new Secret(start.privateKey), name: 'the key given' }, start)
  const { subOrganizationKeys } = start
  const place = { baseUrl, organizationId, key, rate: rateOf(start, organizationId), subOrganizationKeys }
  const temporal = await connectTemporal(named ?? embedded!)
  const taskQueue = taskQueueOf(organizationId)
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    namespace: temporal.namespace,
    taskQueue,
    activities: createActivities({
      clientFor: createClients(place, start),
      sendClientFor: createSendClients(place, start),
      planStore: createPlanStore(join(dataDir, 'plans')),
      clock: Date.now,
      serviceAheadMs: () => operator().aheadMs,
      logger,
    }),
  })
  const running = worker.run()
  closers.push(async () => {
    worker.shutdown()
    await running
    await temporal.close()
  })
  const status: Omit<BackgroundStatus, 'operator'> = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    version,
    baseUrl,
    embeddedService: service !== undefined,
    ...(service ? { relayers: service.bootstrap.relayers } : {}),
    organizationId,
    publicKey: key.publicKey,
    ...(subOrganizationKeys === undefined ? {} : { subOrganizationKeys }),
    temporalAddress: temporal.address,
    embeddedTemporal: embedded !== undefined,
    namespace: temporal.namespace,
    taskQueue,
    log: join(dataDir, 'background.log'),
  }
  const control = await listenForControl(dataDir, () => ({ ...status, operator: operator() }), stop)
  closers.push(() => new Promise((resolve) => control.close(() => resolve())))
  running.catch((error: unknown) => {
    logger.error('the worker ended', { error: String(error) })
    stop()
  })
  return { ...status, operator: operator() }
}

const announce = (text: string) => tell({ kind: 'announce', text })

function tell(news: BackgroundNews): void {
  if (process.connected) process.send?.(news)
}
