import { closeSync, existsSync, openSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { createPooledRandomBytes, type RandomBytes } from '../crypto/index.ts'
import { ensurePrivateFolder, explainSystemError } from '../local/index.ts'
import { createDecoder } from '../protocol/index.ts'
import { type Logger, type Secret, silentLogger } from '../telemetry/index.ts'
import { type ChainsSettings, createChains } from './chains/index.ts'
import { createEngine, type Engine } from './engine/index.ts'
import {
  type Bootstrap,
  beginFirstStart,
  checkDataFolder,
  checkMasterKey,
  createFirstOrganization,
  DATABASE_FILE,
  endFirstStart,
  isEmpty,
  lockFolder,
  MASTER_KEY_FILE,
  OPERATOR_FILE,
  OWNER_ONLY,
  readMasterKey,
  refreshBootstrap,
} from './folder/index.ts'
import { apiPaths, createHttpServer, EDGE_LIMITS, type EdgeLimits } from './http/index.ts'
import { createSealing } from './keys/index.ts'
import { listenForMetrics, type Metrics } from './metrics/index.ts'
import { createResolveHost, createWebhookUrlRules, type ResolveHost } from './network/index.ts'
import { createDocumentFetch, createOidcVerifier } from './oidc/index.ts'
import { createOperator, listenForOperator, type Operator, type OperatorState, warnOfKept } from './operator/index.ts'
import { createOutbox, prepareWebhookKeys } from './outbox/index.ts'
import { createRates, type RatesSettings } from './rates.ts'
import { createReadiness, DISK_WATERMARK, type DiskWatermark } from './readiness.ts'
import { handlers, queryHandlers } from './resources/index.ts'
import { createSender, type Sender } from './sends/index.ts'
import { openDatabase } from './store/index.ts'
import { createWorkPool } from './work/index.ts'

export interface ServiceOptions {
  /** Made when it does not exist; this process alone may use it while the service runs. */
  readonly dataDir: string
  /** @default '127.0.0.1' */
  readonly host?: string
  /** @default 0, any free port */
  readonly port?: number
  /** Milliseconds since the epoch. @default the system's clock */
  readonly clock?: () => number
  /** @default the platform's generator */
  readonly randomBytes?: RandomBytes
  /** @default says nothing */
  readonly logger?: Logger
  /** 32 bytes. @default `master.key` in the data folder, made with it */
  readonly masterKey?: Secret<Uint8Array>
  /** Addresses and blocks of the proxies in front, whose `X-Forwarded-For` is taken. @default none, the socket counts */
  readonly trustedProxies?: readonly string[]
  /**
   * Hosts, with a port or without, that webhooks may be sent to although they are private or speak plain http: for
   * development. @default none
   */
  readonly allowedWebhookHosts?: readonly string[]
  /** Makes another key that webhooks are signed with: published at once, used a day later. @default false */
  readonly rotateWebhookKey?: boolean
  /** Finds the addresses of a host name. @default the machine's resolver */
  readonly resolveHost?: ResolveHost
  /** Names in a new data folder. @default 'root' */
  readonly rootUserName?: string
  /** @default 'quorate' */
  readonly organizationName?: string
  /** @default 'root' */
  readonly keyName?: string
  /**
   * Origins of OIDC issuers that may speak plain http and stand on a private address, such as `http://localhost:8080`.
   * @default none: an issuer is asked by https at public addresses alone
   */
  readonly privateIssuers?: readonly string[]
  /** Whether the owner of the data folder may move the service's time and ask for faults, on a socket of its own. @default false */
  readonly operator?: boolean
  /** The chains that transactions are sent to, by CAIP-2 id, and their nodes. @default none */
  readonly chains?: ChainsSettings
  /** How many requests a second are taken. @default as many as come */
  readonly rates?: RatesSettings
  /** Denied requests of one user that are kept of one day, to be read later; others are counted. @default 100 */
  readonly keptDenialsADay?: number | undefined
  /** What strangers may cost before anything is known of them. @default generous bounds */
  readonly limits?: Partial<EdgeLimits>
  /** Free space of the data folder's disk below which submits are refused, before it is full. @default 64 MiB */
  readonly diskWatermark?: DiskWatermark | undefined
  /** The port on 127.0.0.1 that metrics are served at, 0 for any free one. @default none: they are not taken */
  readonly metricsPort?: number | undefined
  /** How many lines of the log were lost, where somebody counts them. */
  readonly logLinesLost?: () => number
}

/** A service that answers. */
export interface Service {
  readonly url: string
  /** Where metrics are, if they are taken. */
  readonly metricsUrl?: string
  readonly bootstrap: Bootstrap
  /** What an operator has changed; absent where none is listened to. */
  readonly operator?: () => OperatorState
  /** Finishes what has begun and lets go of the port and the data folder, in `limits.drainMs` whatever connections do. */
  close(): Promise<void>
}

/**
 * Opens a data folder and serves it. Throws `service/data-folder-in-use`, `service/master-key-…`,
 * `service/seal-broken`, `service/data-folder-damaged`, `service/data-folder-incomplete`, and `local/…` for what the system
 * refuses: the folder, the disk, the port.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  try {
    return await openFolder(options)
  } catch (error) {
    throw explainSystemError(error, { doing: `the service on \`${options.dataDir}\` did not start` })
  }
}

async function openFolder(options: ServiceOptions): Promise<Service> {
  const { dataDir, host = '127.0.0.1', port = 0 } = options
  const { randomBytes = createPooledRandomBytes(), logger = silentLogger } = options
  ensurePrivateFolder(dataDir)
  const givenKey = options.masterKey && checkMasterKey(options.masterKey)
  // Before the lock, whose file nothing of a folder that is refused should get; where it is there, somebody may be at work.
  if (!existsSync(join(dataDir, 'lock.db'))) checkDataFolder(dataDir, givenKey)
  const lock = await lockFolder(dataDir)
  const closers: (() => Promise<void> | void)[] = [() => lock.release()]
  const drainMs = options.limits?.drainMs ?? EDGE_LIMITS.drainMs
  const closeAll = async () => {
    const end = performance.now() + drainMs
    for (const close of closers.splice(0).reverse()) {
      if (await isLate(close(), end - performance.now())) logger.error('closing did not end in time', { drainMs })
    }
  }
  try {
    const operator = openOperator(options, logger)
    const clock = operator?.clock ?? options.clock ?? Date.now
    const first = checkDataFolder(dataDir, givenKey) === 'new'
    if (first) beginFirstStart(dataDir)
    const metrics = await openMetrics(options)
    if (metrics) closers.push(() => metrics.close())
    const database = openDatabase(createDatabaseFile(dataDir), { now: clock(), onRound: metrics?.onRound })
    closers.push(() => database.close())
    const empty = await isEmpty(database)
    lock.assertHeld()
    const masterKey = givenKey ?? readMasterKey(join(dataDir, MASTER_KEY_FILE), first ? randomBytes : undefined)
    const tools = { database, sealing: createSealing(masterKey, randomBytes), clock, randomBytes, logger }
    if (empty) {
      await createFirstOrganization(dataDir, tools, {
        organizationName: options.organizationName ?? 'quorate',
        rootUserName: options.rootUserName ?? 'root',
        keyName: options.keyName ?? 'root',
      })
    }
    endFirstStart(dataDir)
    const chains = createChains(options.chains ?? {})
    const webhookRules = readWebhookRules(options)
    const webhookUrls = createWebhookUrlRules(webhookRules)
    const { allowedHosts } = webhookRules
    if (allowedHosts.length > 0) logger.warn('webhooks may go to hosts that are not public', { allowedHosts })
    const outside = { checkWebhookUrl: webhookUrls.check, chains }
    const fetchDocument = createDocumentFetch({
      privateOrigins: options.privateIssuers ?? [],
      resolveHost: webhookRules.resolveHost,
    })
    const oidc = createOidcVerifier({ fetchDocument, clock, logger })
    const webhookKeys = await prepareWebhookKeys(tools, { rotate: options.rotateWebhookKey ?? false })
    const outbox = createOutbox({ ...tools, keys: webhookKeys, findPlace: webhookUrls.findPlace })
    closers.push(() => outbox.close())
    const sender = createSender({ ...tools, outbox }, chains.all)
    closers.push(() => sender.close())
    const rates = createRates(options.rates ?? {})
    const pool = createWorkPool()
    closers.push(() => pool.close())
    const engine = createEngine({
      ...tools,
      outside,
      pool,
      rates,
      oidc,
      handlers,
      queryHandlers,
      decoder: createDecoder(),
      keptDenialsADay: options.keptDenialsADay,
    })
    const { trustedProxies = [] } = options
    const faults = operator?.faults
    const http = await createHttpServer({
      engine: wakingSender(engine, sender),
      logger,
      randomBytes,
      clock,
      trustedProxies,
      faults,
      webhookKeys: webhookKeys.published,
      sourceRate: rates.source,
      limits: options.limits,
      onRequestEnd: metrics?.onRequest,
      readiness: createReadiness({ database, dataDir, watermark: options.diskWatermark ?? DISK_WATERMARK, logger }),
    })
    // What comes after it in closing has a share of the time too.
    closers.push(() => http.close(drainMs * 0.8))
    if (operator) {
      const socket = await listenForOperator(dataDir, operator)
      closers.push(() => socket.close())
    }
    metrics?.read({
      connections: http.connections.count,
      connectionsRefused: http.connections.refused,
      requestsHeld: http.inFlight.count,
      bytesHeld: http.inFlight.heldBytes,
      writesWaiting: database.waiting,
      jobs: () => ({ waiting: pool.waiting(), running: pool.running(), done: pool.done() }),
      deliveries: outbox.outcomes,
      rateRefusals: rates.refused,
      logLinesLost: options.logLinesLost ?? (() => 0),
    })
    const metricsListener = metrics && (await listenForMetrics(metrics, options.metricsPort!))
    if (metricsListener) closers.push(() => metricsListener.close())
    const url = await listen(http.server, host, port)
    const bootstrap = await refreshBootstrap(dataDir, tools, url)
    logger.info('serving', { url, dataDir, organizationId: bootstrap.organizationId })
    return {
      url,
      bootstrap,
      close: closeAll,
      ...(metricsListener ? { metricsUrl: metricsListener.url } : {}),
      ...(operator ? { operator: operator.state } : {}),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Nobody pays for what is not asked for, its library included. */
async function openMetrics({ metricsPort }: ServiceOptions): Promise<Metrics | undefined> {
  return metricsPort === undefined ? undefined : (await import('./metrics/metrics.ts')).createMetrics()
}

/** Waits for work, but no longer than so many ms: what is not over then goes on unwatched. */
async function isLate(work: Promise<void> | void, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(true), Math.max(0, ms))
  try {
    return await Promise.race([Promise.resolve(work).then(() => false), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function openOperator({ dataDir, operator, clock = Date.now }: ServiceOptions, logger: Logger): Operator | undefined {
  const file = join(dataDir, OPERATOR_FILE)
  if (operator) return createOperator({ clock, file, paths: apiPaths() })
  warnOfKept(file, logger)
  return undefined
}

/** What was accepted is sent at once, whether the request itself or an approval was the last that it needed. */
function wakingSender(engine: Engine, sender: Sender): Engine {
  return {
    ...engine,
    async submit(raw) {
      const answer = await engine.submit(raw)
      const { result } = answer['activity'] as { readonly result?: Readonly<Record<string, object>> }
      const sent = Object.values(result ?? {}).some((of) => 'sendTransactionStatusId' in of || 'transactionHash' in of)
      if (sent) sender.wake()
      return answer
    },
  }
}

function readWebhookRules({ resolveHost = createResolveHost(), allowedWebhookHosts = [] }: ServiceOptions) {
  return { resolveHost, allowedHosts: allowedWebhookHosts }
}

/** The file is made here so that no other user may read it, nor the files that SQLite puts beside it. */
function createDatabaseFile(dataDir: string): string {
  const path = join(dataDir, DATABASE_FILE)
  if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_ONLY))
  return path
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  await server.listen({ host, port })
  const address = server.server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}
