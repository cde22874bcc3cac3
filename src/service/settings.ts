import { createPooledRandomBytes, type RandomBytes } from '../crypto/index.ts'
import type { KeeperTools } from '../keepers/index.ts'
import { type Logger, type Secret, silentLogger } from '../telemetry/index.ts'
import type { ChainsSettings } from './chains/index.ts'
import { NITRO_ROOT } from './enclaves/index.ts'
import { EDGE_LIMITS, type EdgeLimits, type TlsFiles } from './http/index.ts'
import type { MessagesSettings } from './messages/index.ts'
import { createResolveHost, type ResolveHost } from './network/index.ts'
import type { IssuerSettings } from './oauth/index.ts'
import type { OnRampUrls } from './on-ramp/index.ts'
import type { Captcha } from './proxy/index.ts'
import type { RatesSettings } from './rates.ts'
import { DISK_WATERMARK, type DiskWatermark } from './readiness.ts'
import type { PostgresSettings } from './store/index.ts'

/** An authentication proxy of this process. */
export interface ProxySettings {
  /** @default 0, any free port */
  readonly port?: number | undefined
  readonly captcha?: Captcha | undefined
  /** Requests a second of one source address. @default 20 */
  readonly rate?: number | undefined
  /** Codes that one source address may ask for in three minutes. @default 3 */
  readonly codesPerAddress?: number | undefined
}

export interface ServiceOptions extends IssuerSettings {
  /** Made when it does not exist; this process alone may use it while the service runs. */
  readonly dataDir: string
  /**
   * The database that the rows stand in, which other processes may serve too (docs/postgresql.md). @default a file of SQLite in
   * the data folder
   */
  readonly database?: PostgresSettings | undefined
  /** @default '127.0.0.1' */
  readonly host?: string
  /** Of the API and of the authentication proxy beside it; read again when they change. @default none: plain HTTP */
  readonly tls?: TlsFiles | undefined
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
  /** What opens a `master.key` that is wrapped (docs/master-key.md): the variables of its keeper. @default none */
  readonly keyKeeper?: KeeperTools
  /** Addresses and blocks of the proxies in front, whose `X-Forwarded-For` is taken. @default none, the socket counts */
  readonly trustedProxies?: readonly string[]
  /**
   * Hosts, with a port or without, that webhooks may be sent to although they are private or speak plain http: for
   * development. @default none
   */
  readonly allowedWebhookHosts?: readonly string[]
  /** Whether webhook subscriptions choose by their filters (docs/protocol/webhooks.md#filters). @default false */
  readonly webhookFilters?: boolean
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
  /** Where the OpenID Connect issuer that the service is can be found by others. @default the first address it had */
  readonly issuerUrl?: string | undefined
  /** Makes another key that the service's own OIDC tokens are signed with: published at once, used a day later. @default false */
  readonly rotateIssuerKey?: boolean
  /** Where on-ramp providers are instead of at their public places: stand-ins. @default none */
  readonly onRampUrls?: OnRampUrls
  /** Who signs what enclaves say of themselves: a certificate, DER in hex. @default the root of AWS Nitro Enclaves */
  readonly enclaveRoot?: string
  /** Who brings it makes parent organizations: at least 32 characters. @default nobody does */
  readonly enrolmentSecret?: Secret | undefined
  /** Whether the owner of the data folder may move the service's time and ask for faults, on a socket of its own. @default false */
  readonly operator?: boolean
  /** The chains that transactions are sent to, by CAIP-2 id, and their nodes. @default none */
  readonly chains?: ChainsSettings
  /** How e-mails and text messages leave. @default into the outbox of the data folder */
  readonly messages?: MessagesSettings
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
  /** The authentication proxy beside the API. @default none is run */
  readonly proxy?: ProxySettings | undefined
  /** How many lines of the log were lost, where somebody counts them. */
  readonly logLinesLost?: () => number
}

/** What was said, and the default of everything that was not. */
export type ServiceSettings = ReturnType<typeof readSettings>

export function readSettings(options: ServiceOptions) {
  return {
    ...options,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    clock: options.clock ?? Date.now,
    randomBytes: options.randomBytes ?? createPooledRandomBytes(),
    logger: options.logger ?? silentLogger,
    trustedProxies: options.trustedProxies ?? [],
    allowedWebhookHosts: options.allowedWebhookHosts ?? [],
    webhookFilters: options.webhookFilters ?? false,
    rotateWebhookKey: options.rotateWebhookKey ?? false,
    resolveHost: options.resolveHost ?? createResolveHost(),
    rootUserName: options.rootUserName ?? 'root',
    organizationName: options.organizationName ?? 'quorate',
    keyName: options.keyName ?? 'root',
    privateIssuers: options.privateIssuers ?? [],
    vouchingIssuers: options.vouchingIssuers ?? [],
    rotateIssuerKey: options.rotateIssuerKey ?? false,
    providerUrls: options.providerUrls ?? {},
    onRampUrls: options.onRampUrls ?? {},
    enclaveRoot: options.enclaveRoot ?? NITRO_ROOT,
    chains: options.chains ?? {},
    messages: options.messages ?? {},
    rates: options.rates ?? {},
    diskWatermark: options.diskWatermark ?? DISK_WATERMARK,
    drainMs: options.limits?.drainMs ?? EDGE_LIMITS.drainMs,
    logLinesLost: options.logLinesLost ?? (() => 0),
  }
}
