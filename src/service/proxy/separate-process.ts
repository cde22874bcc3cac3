/** The authentication proxy as a process of its own, beside a service that it submits to over HTTP. */
import { join } from 'node:path'
import { createPooledRandomBytes, newUuid } from '../../crypto/index.ts'
import type { KeeperTools } from '../../keepers/index.ts'
import { explainSystemError } from '../../local/index.ts'
import { type Logger, type Secret, silentLogger } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import {
  checkDataFolder,
  checkMasterKey,
  checkSharedFolder,
  DATABASE_FILE,
  followKeyRotation,
  MASTER_KEY_FILE,
  openNextKey,
  readMasterKey,
  sayKeysHeld,
} from '../folder/index.ts'
import { EDGE_LIMITS, type EdgeLimits, listen, openTls, type TlsFiles } from '../http/index.ts'
import { createSealing, readServiceKeys, type Sealing } from '../keys/index.ts'
import { openMasterKey } from '../master-key/index.ts'
import { listenForMetrics, openMetrics } from '../metrics/index.ts'
import { createVouching, type IssuerSettings } from '../oauth/index.ts'
import { createRate, PROXY_RATE } from '../rates.ts'
import { AUTH_PROXY_CODES } from '../readings.ts'
import {
  createPostgresReader,
  createReader,
  createWriterBeside,
  type PostgresSettings,
  readFirstOrganization,
} from '../store/index.ts'
import type { Captcha } from './captcha.ts'
import { createAuthProxyServer } from './server.ts'
import { connectUpstream } from './upstream.ts'
import { createWindow } from './window.ts'

/** What it is told of issuers is what the service is told too. */
export interface AuthProxyProcessOptions extends IssuerSettings {
  /** The service's, or one of its own; nothing is written there but a new master key in the place of the old one. */
  readonly dataDir: string
  /** The PostgreSQL that the service keeps its rows in. @default a file of the data folder */
  readonly database?: PostgresSettings | undefined
  /** Of the service. */
  readonly baseUrl: string
  /** 32 bytes. @default `master.key` in the data folder */
  readonly masterKey?: Secret<Uint8Array>
  /** What opens a `master.key` that is wrapped: the variables of its keeper. @default none */
  readonly keyKeeper?: KeeperTools
  /** @default '127.0.0.1' */
  readonly host?: string
  /** Read again when they change. @default none: plain HTTP */
  readonly tls?: TlsFiles | undefined
  /** @default 0, any free port */
  readonly port?: number | undefined
  readonly logger?: Logger
  readonly trustedProxies?: readonly string[]
  readonly limits?: Partial<EdgeLimits>
  readonly captcha?: Captcha | undefined
  /** Requests a second of one source address. @default 20 */
  readonly rate?: number | undefined
  /** Codes that one source address may ask for in three minutes. @default as many as the service lets through */
  readonly codesPerAddress?: number | undefined
  /** The port on 127.0.0.1 that metrics are served at, 0 for any free one. @default none: they are not taken */
  readonly metricsPort?: number | undefined
}

/** Starts a proxy. Throws `service/nothing-served`, and what is wrong with the data folder, the database or the port. */
export async function createAuthProxy(options: AuthProxyProcessOptions): Promise<{
  readonly url: string
  readonly metricsUrl?: string
  readonly reloadTls?: () => void
  close(): Promise<void>
}> {
  const { dataDir, baseUrl, limits, codesPerAddress, host = '127.0.0.1', port = 0, logger = silentLogger } = options
  const keeper = options.keyKeeper ?? { environment: {} }
  const givenKey = options.masterKey
    ? checkMasterKey(options.masterKey)
    : await openMasterKey(join(dataDir, MASTER_KEY_FILE), keeper)
  const nextKey = options.masterKey ? undefined : await openNextKey(dataDir, keeper)
  if (options.database) checkSharedFolder(dataDir)
  else if (checkDataFolder(dataDir, givenKey, nextKey) === 'new') throw nothingServed(dataDir)
  const randomBytes = createPooledRandomBytes()
  const masterKey = givenKey ?? readMasterKey(join(dataDir, MASTER_KEY_FILE))
  const sealing = createSealing(masterKey, randomBytes)
  if (nextKey) sealing.add(nextKey)
  const closers: (() => unknown)[] = []
  const close = async () => {
    while (closers.length > 0) await closers.pop()!()
  }
  try {
    const rows = options.database ? await openRows(options.database, dataDir, sealing) : besideFile(dataDir)
    closers.push(() => rows.close())
    const isShared = options.database !== undefined
    const said = { keyring: sealing, write: rows.write, isRepeated: isShared, logger }
    const holding = await sayKeysHeld({ kind: 'proxy', id: newUuid(randomBytes), ...said })
    closers.push(() => holding.close())
    if (!options.masterKey) {
      const database = { read: rows.read, isShared }
      const rotation = await followKeyRotation({ dataDir, database, keyring: sealing, keeper, holding, logger })
      closers.push(() => rotation.close())
    }
    const tls = options.tls && openTls(options.tls, logger)
    if (tls) closers.push(() => tls.close())
    const metrics = await openMetrics(options.metricsPort)
    if (metrics) closers.push(() => metrics.close())
    const served = await createAuthProxyServer({
      ...options,
      rate: createRate(options.rate ?? PROXY_RATE),
      codes: codesPerAddress === undefined ? undefined : createWindow({ ...AUTH_PROXY_CODES, most: codesPerAddress }),
      logger,
      randomBytes,
      clock: Date.now,
      trustedProxies: options.trustedProxies ?? [],
      vouches: createVouching(options),
      onRequestEnd: metrics?.onRequest,
      tls,
      read: rows.read,
      unseal: sealing.unseal,
      upstream: connectUpstream(baseUrl),
    })
    closers.push(() => served.close(limits?.drainMs ?? EDGE_LIMITS.drainMs))
    metrics?.readServers({ 'auth-proxy': served })
    const listener = metrics && (await listenForMetrics(metrics, options.metricsPort!))
    if (listener) closers.push(() => listener.close())
    const url = await listen(served.server, { host, port })
    logger.info('serving', { url, dataDir, baseUrl })
    return { url, ...(listener ? { metricsUrl: listener.url } : {}), ...(tls ? { reloadTls: tls.reload } : {}), close }
  } catch (error) {
    await close()
    throw explainSystemError(error, { doing: `the authentication proxy of \`${dataDir}\` did not start` })
  }
}

/** The rows of a service in the file of a folder. */
function besideFile(dataDir: string) {
  const file = join(dataDir, DATABASE_FILE)
  return { read: createReader(file), write: createWriterBeside(file), close: () => {} }
}

/** Opens the rows of a service on PostgreSQL. A database of another installation, or none, is noticed before anybody asks. */
async function openRows(database: PostgresSettings, dataDir: string, sealing: Sealing) {
  if ((await readFirstOrganization(database)) === undefined) throw nothingServed(dataDir)
  const rows = createPostgresReader(database)
  try {
    await rows.read((tx) => readServiceKeys(tx, sealing))
    return rows
  } catch (error) {
    await rows.close()
    throw error
  }
}

function nothingServed(dataDir: string): ServiceError {
  return new ServiceError('service/nothing-served', `nothing was ever served in \`${dataDir}\``, {
    facts: { folder: dataDir },
    next: 'name the folder of the service with `--folder`',
  })
}
