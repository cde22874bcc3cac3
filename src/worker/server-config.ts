import { CERTIFICATE_FILES } from './certificate-files.ts'

/** Two ports for each part of the server: one for its calls, one on which the parts find each other. */
export const SERVER_PARTS = ['frontend', 'matching', 'history', 'worker'] as const
export type ServerPorts = Readonly<
  Record<(typeof SERVER_PARTS)[number], { readonly grpc: number; readonly membership: number }>
>

/** Names in the folder that the server runs in; its config names them relative to that. */
export const SERVER_FILES = {
  state: 'state.db',
  log: 'server.log',
  certificates: 'certificates',
  config: 'config',
  /** In the folder `config`, named for the server's argument `--env`. */
  environment: 'quorate',
  dynamicConfig: 'config/dynamic.yaml',
} as const

/** By their names in Temporal's references of dynamic configuration. */
export type DynamicConfig = Readonly<Record<string, string | number | boolean>>

const DYNAMIC_CONFIG: DynamicConfig = {
  // Without these a step takes 100 ms after the first ten; with them 16 ms, measured with the development server.
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'history.transferProcessorMaxPollHostRPS': 5000,
  // For one user on one machine: its lists are not held up at ten a second, and its cache takes less memory.
  'frontend.namespaceRPS.visibility': 100,
  'history.hostLevelCacheMaxSize': 8096,
  // INVARIANT: without it the membership ports speak in clear with every process that connects, and let it join.
  'system.enableRingpopTLS': true,
}

/**
 * The config file of a server that speaks with nobody who has no certificate of its authority, on every port: SQLite,
 * one process, the loopback interface, and neither HTTP nor pprof nor metrics ports. JSON, which is YAML too.
 */
export function serverConfig(ports: ServerPorts): string {
  const file = (name: string) => `${SERVER_FILES.certificates}/${name}`
  const authorities = [file(CERTIFICATE_FILES.authority)]
  const pair = {
    certFile: file(CERTIFICATE_FILES.server.certificate),
    keyFile: file(CERTIFICATE_FILES.server.key),
  }
  const client = { serverName: 'localhost', rootCaFiles: authorities }
  const ends = { server: { ...pair, requireClientAuth: true, clientCaFiles: authorities }, client }
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'sqlite',
      visibilityStore: 'sqlite',
      numHistoryShards: 1,
      datastores: { sqlite: { sql: SQLITE } },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      tls: { internode: ends, frontend: ends, systemWorker: { ...pair, client } },
    },
    services: Object.fromEntries(
      SERVER_PARTS.map((part) => {
        const { grpc, membership } = ports[part]
        return [part, { rpc: { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true } }]
      }),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `localhost:${ports.frontend.grpc}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: SERVER_FILES.dynamicConfig, pollInterval: '1h' },
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

/** `synchronous` 2 is FULL: what was answered is on disk, which is what power loss needs. */
const SQLITE = {
  pluginName: 'sqlite',
  databaseName: SERVER_FILES.state,
  connectAddr: 'localhost',
  connectProtocol: 'tcp',
  connectAttributes: { mode: 'rwc', setup: 'true', cache: 'private', journal_mode: 'wal', synchronous: '2' },
  maxConns: 1,
  maxIdleConns: 1,
}

export function dynamicConfig(more: DynamicConfig = {}): string {
  const rows = Object.entries({ ...DYNAMIC_CONFIG, ...more }).map(([name, value]) => [name, [{ value }]])
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`
}
