import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { newUuid } from '../crypto/index.ts'
import { ensurePrivateFolder, explainSystemError } from '../local/index.ts'
import { createDecoder, type JsonObject, proxyEndpoints } from '../protocol/index.ts'
import type { Secret } from '../telemetry/index.ts'
import { WEBHOOK_EVENTS } from '../webhook/index.ts'
import { createBalanceWatcher } from './balances/index.ts'
import { createChains } from './chains/index.ts'
import { createEngine } from './engine/index.ts'
import {
  ALONE,
  type Bootstrap,
  beginFirstStart,
  beginOrJoin,
  checkDataFolder,
  checkMasterKey,
  checkSharedFolder,
  createFirstOrganization,
  DATABASE_FILE,
  endFirstStart,
  followKeyRotation,
  isEmpty,
  lockFolder,
  MASTER_KEY_FILE,
  OPERATOR_FILE,
  OWNER_ONLY,
  openNextKey,
  readMasterKey,
  refreshBootstrap,
  sayKeysHeld,
} from './folder/index.ts'
import { apiPaths, createHttpServer, listen, openTls } from './http/index.ts'
import { createSealing } from './keys/index.ts'
import { openMasterKey } from './master-key/index.ts'
import { createMessenger, createTransports, readMessageRules } from './messages/index.ts'
import { listenForMetrics, openMetrics } from './metrics/index.ts'
import { createWebhookUrlRules } from './network/index.ts'
import { createOauth2Exchange, createTokenIssuer, createVouching, issuerOf } from './oauth/index.ts'
import { createDocumentFetch, createOidcVerifier } from './oidc/index.ts'
import { createOnRamp } from './on-ramp/index.ts'
import { createOperator, listenForOperator, type Operator, type OperatorState, warnOfKept } from './operator/index.ts'
import { createOutbox, createWebhookDesk, prepareWebhookKeys } from './outbox/index.ts'
import { createAuthProxyServer } from './proxy/index.ts'
import { createRate, createRates, PROXY_RATE } from './rates.ts'
import { createReadiness } from './readiness.ts'
import { AUTH_PROXY_CODES } from './readings.ts'
import { describeService, handlers, queryHandlers } from './resources/index.ts'
import { countMessages } from './resources/messages/store.ts'
import { countSendsUnderWay } from './resources/sends/store.ts'
import { countDeliveries } from './resources/webhook-endpoints/deliveries-store.ts'
import { createLaneDesk, createSender } from './sends/index.ts'
import { readSettings, type ServiceOptions, type ServiceSettings } from './settings.ts'
import { createLeases, openDatabase, openPostgres, trackWrites } from './store/index.ts'
import { createWorkPool } from './work/index.ts'

/** A service that answers. */
export interface Service {
  readonly url: string
  /** Where metrics are, if they are taken. */
  readonly metricsUrl?: string
  readonly bootstrap: Bootstrap
  /** What an operator has changed; absent where none is listened to. */
  readonly operator?: () => OperatorState
  /** Reads the files of its certificate again; absent where it has none. */
  readonly reloadTls?: () => void
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
    return await openFolder(readSettings(options))
  } catch (error) {
    throw explainSystemError(error, { doing: `the service on \`${options.dataDir}\` did not start` })
  }
}

async function openFolder(settings: ServiceSettings): Promise<Service> {
  const { dataDir, randomBytes, logger, drainMs } = settings
  ensurePrivateFolder(dataDir)
  const keeper = settings.keyKeeper ?? { environment: {} }
  const givenKey = settings.masterKey
    ? checkMasterKey(settings.masterKey)
    : await openMasterKey(join(dataDir, MASTER_KEY_FILE), keeper)
  const nextKey = settings.masterKey ? undefined : await openNextKey(dataDir, keeper)
  // Before the lock, whose file nothing of a folder that is refused should get; where it is there, somebody may be at work.
  if (settings.database) checkSharedFolder(dataDir)
  else if (!existsSync(join(dataDir, 'lock.db'))) checkDataFolder(dataDir, givenKey, nextKey)
  const lock = await lockFolder(dataDir)
  const closers: (() => Promise<void> | void)[] = [() => lock.release()]
  const closeAll = async () => {
    const end = performance.now() + drainMs
    for (const close of closers.splice(0).reverse()) {
      if (await isLate(close(), end - performance.now())) logger.error('closing did not end in time', { drainMs })
    }
  }
  try {
    const operator = openOperator(settings)
    const clock = operator?.clock ?? settings.clock
    const first = !settings.database && checkDataFolder(dataDir, givenKey, nextKey) === 'new'
    if (first) beginFirstStart(dataDir)
    const metrics = await openMetrics(settings.metricsPort)
    if (metrics) closers.push(() => metrics.close())
    const opening = { now: clock(), onRound: metrics?.onRound }
    const database = trackWrites(
      settings.database
        ? await openPostgres(settings.database, opening)
        : openDatabase(createDatabaseFile(dataDir), opening),
    )
    closers.push(() => database.close())
    const createTools = (masterKey: Secret<Uint8Array>) => {
      const sealing = createSealing(masterKey, randomBytes)
      if (nextKey) sealing.add(nextKey)
      return { database, sealing, clock, randomBytes, logger }
    }
    const begin = async () => {
      const empty = await isEmpty(database)
      lock.assertHeld()
      const made = createTools(
        givenKey ?? readMasterKey(join(dataDir, MASTER_KEY_FILE), first ? randomBytes : undefined),
      )
      if (empty) await createFirstOrganization(dataDir, made, settings)
      endFirstStart(dataDir)
      return made
    }
    const installation = { database, givenKey, names: settings, createTools, createKey: randomBytes }
    const tools = await database.alone(() => (settings.database ? beginOrJoin(dataDir, installation) : begin()))
    const processId = newUuid(randomBytes)
    const leases = await createLeases(database, ['deliveries', 'messages', 'sends', 'balances', 'keys'], {
      id: processId,
      onFault: (error) => logger.error('what this process does for all may go to another', { reason: String(error) }),
    })
    closers.push(() => leases.close())
    const keyring = tools.sealing
    const holding = database.isShared
      ? await sayKeysHeld({ kind: 'service', id: processId, keyring, write: database.write, isRepeated: true, logger })
      : ALONE
    closers.push(() => holding.close())
    if (!settings.masterKey) {
      const sealing = { database, lease: leases.of.keys }
      const rotation = await followKeyRotation({ dataDir, database, sealing, keyring, keeper, holding, logger })
      closers.push(() => rotation.close())
    }
    const chains = createChains(settings.chains)
    const { resolveHost, allowedWebhookHosts: allowedHosts } = settings
    const openHosts = new Set<string>()
    const webhookUrls = createWebhookUrlRules({ resolveHost, allowedHosts, openHosts })
    if (allowedHosts.length > 0) logger.warn('webhooks may go to hosts that are not public', { allowedHosts })
    const { providerUrls, onRampUrls } = settings
    // The operator's own word about a provider holds, wherever it leads.
    const privateOrigins = [
      ...settings.privateIssuers,
      ...Object.values({ ...providerUrls, ...onRampUrls }).map((url) => new URL(url).origin),
    ]
    const fetchDocument = createDocumentFetch({ privateOrigins, resolveHost })
    const issuer = await createTokenIssuer(tools, { url: settings.issuerUrl, rotate: settings.rotateIssuerKey })
    const vouches = createVouching(settings)
    const oidc = createOidcVerifier({ fetchDocument, clock, logger, own: issuer })
    const exchangeCode = createOauth2Exchange({ ...tools, fetchDocument, providerUrls })
    const onRamp = createOnRamp({ ...tools, fetchDocument, urls: onRampUrls })
    const webhookKeys = await prepareWebhookKeys(tools, { rotate: settings.rotateWebhookKey })
    const outbox = createOutbox({
      ...tools,
      lease: leases.of.deliveries,
      keys: webhookKeys,
      findPlace: webhookUrls.findPlace,
      appliesFilters: settings.webhookFilters,
      faults: operator?.faults,
    })
    closers.push(() => outbox.close())
    const sender = createSender({ ...tools, lease: leases.of.sends, outbox, onEnd: metrics?.onSendEnd }, chains.all)
    closers.push(() => sender.close())
    const balances = createBalanceWatcher({ ...tools, lease: leases.of.balances, outbox }, chains.all)
    closers.push(() => balances.close())
    const messages = readMessageRules(settings.messages)
    const transports = createTransports(settings.messages, { dataDir, resolveHost })
    const messenger = createMessenger({ ...tools, lease: leases.of.messages, transports })
    closers.push(() => messenger.close())
    const rates = createRates(settings.rates, undefined, leases.processes)
    const pool = createWorkPool()
    closers.push(() => pool.close())
    const engine = createEngine({
      onDecision: metrics?.onDecision,
      ...tools,
      outside: { checkWebhookUrl: webhookUrls.check, chains, exchangeCode, onRamp },
      oauth: { issueToken: issuer.issue, linkingIssuer: issuerOf('google', providerUrls), vouches },
      followUps: { wakeSender: sender.wake, wakeMessenger: messenger.wake, wakeOutbox: outbox.wake },
      tellActivity: (tx, changed) => outbox.record(tx, 'ACTIVITY_UPDATES', changed),
      messages,
      codesPerAddress: settings.proxy?.codesPerAddress ?? AUTH_PROXY_CODES.most,
      enclaveRoot: settings.enclaveRoot,
      pool,
      rates,
      oidc,
      handlers,
      queryHandlers,
      decoder: createDecoder(),
      keptDenialsADay: settings.keptDenialsADay,
      enrolmentSecret: settings.enrolmentSecret,
    })
    const tls = settings.tls && openTls(settings.tls, logger)
    if (tls) closers.push(() => tls.close())
    const readiness = createReadiness({ database, dataDir, watermark: settings.diskWatermark, logger })
    const http = await createHttpServer({
      engine,
      logger,
      randomBytes,
      clock,
      trustedProxies: settings.trustedProxies,
      faults: operator?.faults,
      describe: describeService,
      webhookKeys: webhookKeys.published,
      issuer,
      sourceRate: rates.source,
      limits: settings.limits,
      onRequestEnd: metrics?.onRequest,
      readiness,
      tls,
    })
    const proxy =
      settings.proxy &&
      (await createAuthProxyServer({
        captcha: settings.proxy.captcha,
        rate: createRate(settings.proxy.rate ?? PROXY_RATE, undefined, leases.processes),
        providerUrls,
        vouches,
        read: database.read,
        unseal: tools.sealing.unseal,
        upstream: async ({ kind, ...request }) => {
          if (kind === 'query') return engine.query(request)
          readiness.checkSubmit()
          return JSON.parse(await engine.submit(request)) as JsonObject
        },
        logger,
        randomBytes,
        clock,
        trustedProxies: settings.trustedProxies,
        limits: settings.limits,
        onRequestEnd: metrics?.onRequest,
        faults: operator?.faults,
        tls,
      }))
    // What comes after them in closing has a share of the time too.
    closers.push(async () => void (await Promise.all([http, proxy].map((edge) => edge?.close(drainMs * 0.8)))))
    if (operator) {
      const socket = await listenForOperator(dataDir, operator, {
        webhooks: createWebhookDesk({ database, clock, wake: outbox.wake, openHosts }),
        lanes: createLaneDesk({ ...tools, outbox, onEnd: metrics?.onSendEnd }, chains, sender.wake),
      })
      closers.push(() => socket.close())
    }
    metrics?.readServers({ api: http, ...(proxy ? { 'auth-proxy': proxy } : {}) })
    metrics?.read({
      writesWaiting: database.waiting,
      jobs: () => ({ waiting: pool.waiting(), running: pool.running(), done: pool.done() }),
      deliveries: outbox.outcomes,
      rateRefusals: rates.refused,
      logLinesLost: settings.logLinesLost,
      sends: () => database.read(countSendsUnderWay),
      deliveriesKept: async () => {
        const { waiting, givenUp } = await database.read(countDeliveries)
        return { waiting, 'given up': givenUp }
      },
      messages: () => database.read(countMessages),
    })
    const metricsListener = metrics && (await listenForMetrics(metrics, settings.metricsPort!))
    if (metricsListener) closers.push(() => metricsListener.close())
    const url = await listen(http.server, settings)
    await issuer.open(url)
    const authProxyUrl = proxy && (await listen(proxy.server, { host: settings.host, port: settings.proxy?.port ?? 0 }))
    const bootstrap = await refreshBootstrap(dataDir, tools, {
      baseUrl: url,
      ...(authProxyUrl === undefined ? {} : { authProxyUrl }),
    })
    logger.info('serving', { url, dataDir, organizationId: bootstrap.organizationId })
    return {
      url,
      bootstrap,
      close: closeAll,
      ...(metricsListener ? { metricsUrl: metricsListener.url } : {}),
      ...(operator ? { operator: operator.state } : {}),
      ...(tls ? { reloadTls: tls.reload } : {}),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Waits for work, but no longer than so many ms: unfinished work then goes on without a waiter. */
async function isLate(work: Promise<void> | void, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(true), Math.max(0, ms))
  try {
    return await Promise.race([Promise.resolve(work).then(() => false), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function openOperator({ dataDir, operator, clock, logger }: ServiceSettings): Operator | undefined {
  const file = join(dataDir, OPERATOR_FILE)
  if (operator)
    return createOperator({
      clock,
      file,
      paths: [...apiPaths(), ...Object.values(proxyEndpoints).map(({ path }) => path)],
      events: Object.keys(WEBHOOK_EVENTS),
    })
  warnOfKept(file, logger)
  return undefined
}

/** The file is made here so that no other user may read it, nor the files that SQLite puts beside it. */
function createDatabaseFile(dataDir: string): string {
  const path = join(dataDir, DATABASE_FILE)
  if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_ONLY))
  return path
}
