import { join } from 'node:path'
import type { Settings } from '../../config/index.ts'
import { messageOf } from '../../diagnostics/index.ts'
import { rateOf, taskQueueOf } from '../../operations/index.ts'
import { createService, type Service } from '../../service/index.ts'
import type { KeyReference } from '../../stamp/index.ts'
import { type Logger, Secret } from '../../telemetry/index.ts'
import { connectTemporal, loadPayloadSeal, routeTemporalLogs } from '../../worker/index.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase } from '../database-options.ts'
import { readMessageOptions } from '../message-options.ts'
import { createOrganizationWorker } from '../organization-worker.ts'
import { readProxyOptions } from '../proxy-options.ts'
import { listensToOperator } from '../service-folder.ts'
import { version } from '../version.ts'
import { bootstrapKey, loadKey } from './connect.ts'
import type { Why } from './down.ts'
import { startEmbeddedTemporal } from './embedded-temporal.ts'
import { keepChains } from './kept-chains.ts'
import type { BackgroundStart, BackgroundStatus } from './model.ts'
import { namedTemporal } from './temporal.ts'

export type Closer = () => Promise<void> | void

export interface ComingUp {
  readonly environment: CommandInput['environment']
  /** Gets how to close each thing as soon as it is there. */
  readonly closers: Closer[]
  readonly logger: Logger
  /** Aborted when what comes up is to end. */
  readonly signal: AbortSignal
  /** Ends it all. */
  readonly stop: (why: Why) => void
  readonly announce: (text: string) => void
}

/** Starts service, Temporal server and worker, and returns what says how they stand. */
export async function comeUp(start: BackgroundStart, options: ComingUp): Promise<() => BackgroundStatus> {
  const { dataDir } = start
  const { environment, closers, logger, signal, stop, announce } = options
  await routeTemporalLogs(logger)
  const named = namedTemporal(environment)
  // The two slow things side by side: Temporal may have to be built the first time.
  const onDeath = (how: string) => {
    logger.error('the embedded Temporal server died; everything else here ends too', { how })
    stop({ how: `ended, because the embedded Temporal server died (${how})`, isWanted: false })
  }
  const [embedded, service] = await allOrNone(signal, (both) => [
    named ? undefined : startEmbeddedTemporal(dataDir, { environment, announce, closers, signal: both, onDeath }),
    start.baseUrl === undefined ? startService(start, options) : undefined,
  ])
  const operator = () => service?.operator?.() ?? { aheadMs: 0, faults: [] }
  const baseUrl = start.baseUrl ?? service!.url
  const organizationId = start.organizationId ?? service!.bootstrap.organizationId
  const key = await loadKey(keyOfStart(start), start)
  const { subOrganizationKeys } = start
  const place = { baseUrl, organizationId, key, rate: rateOf(start, baseUrl), subOrganizationKeys }
  signal.throwIfAborted()
  const temporal = await connectTemporal(named ?? embedded!, await loadPayloadSeal(dataDir, payloadKeyOf(start)))
  closers.push(() => temporal.close())
  signal.throwIfAborted()
  const serviceAheadMs = () => operator().aheadMs
  let { publicKey } = key
  const onKey = (next: string) => {
    publicKey = next
  }
  const worker = await createOrganizationWorker(temporal, place, start, { logger, serviceAheadMs, onKey })
  const running = worker.run()
  closers.push(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown()
    await running
  })
  running.catch((error: unknown) => {
    logger.error('the worker ended', { error: String(error) })
    stop({ how: `ended, because its worker did (${messageOf(error)})`, isWanted: false })
  })
  const status: Omit<BackgroundStatus, 'operator'> = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    version,
    baseUrl,
    embeddedService: service !== undefined,
    ...(service ? { relayers: service.bootstrap.relayers } : {}),
    ...(service?.bootstrap.authProxyUrl === undefined ? {} : { authProxyUrl: service.bootstrap.authProxyUrl }),
    organizationId,
    publicKey: key.publicKey,
    ...(subOrganizationKeys === undefined ? {} : { subOrganizationKeys }),
    temporalAddress: temporal.address,
    embeddedTemporal: embedded !== undefined,
    namespace: temporal.namespace,
    taskQueue: taskQueueOf(organizationId),
    log: join(dataDir, 'background.log'),
  }
  return () => ({ ...status, publicKey, operator: operator() })
}

/** The key that was given, else the embedded service's root key. */
function keyOfStart({ dataDir, privateKey, signingKey, keptKey }: BackgroundStart): NonNullable<Settings['key']> {
  if (signingKey !== undefined) return { kind: 'sign command', ...signingKey }
  if (keptKey !== undefined) return { kind: 'sign key', ...keptKey }
  if (privateKey === undefined) return bootstrapKey(dataDir)
  return { kind: 'value', value: new Secret(privateKey), name: 'the key given' }
}

async function startService(start: BackgroundStart, { environment, closers, logger }: ComingUp): Promise<Service> {
  const service = await createService({
    dataDir: join(start.dataDir, 'service'),
    logger,
    operator: listensToOperator(environment),
    database: readDatabase({ options: {}, environment }),
    keyKeeper: { environment },
    chains: keepChains(start.dataDir, environment),
    messages: await readMessageOptions({ options: {}, environment }),
    proxy: readProxyOptions({ options: {}, environment }),
    ...(start.rootUserName === undefined ? {} : { rootUserName: start.rootUserName }),
    ...(start.rootKeyName === undefined ? {} : { keyName: start.rootKeyName }),
    ...(start.organizationName === undefined ? {} : { organizationName: start.organizationName }),
  })
  closers.push(() => service.close())
  return service
}

/**
 * Waits for both. Where one fails, the other is told to end, and has ended or is among what is closed when this throws: a
 * child that nobody knows of would outlive everything.
 */
async function allOrNone<A, B>(
  signal: AbortSignal,
  start: (signal: AbortSignal) => [Promise<A> | A, Promise<B> | B],
): Promise<[A, B]> {
  const failed = new AbortController()
  const attempts = start(AbortSignal.any([signal, failed.signal]))
  let reason: unknown
  for (const attempt of attempts) {
    Promise.resolve(attempt).catch((error: unknown) => {
      reason ??= error
      failed.abort(error)
    })
  }
  const [first, second] = await Promise.allSettled(attempts)
  signal.throwIfAborted()
  if (first.status === 'rejected' || second.status === 'rejected') throw reason
  return [first.value, second.value]
}

function payloadKeyOf({ payloadKey }: BackgroundStart): KeyReference | undefined {
  return payloadKey === undefined
    ? undefined
    : { kind: 'value', value: new Secret(payloadKey), name: 'the payload key given' }
}
