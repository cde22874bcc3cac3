import { Client, Connection, isGrpcServiceError } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import type { NativeConnection } from '@temporalio/worker'
import { WorkerError } from './error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where Temporal is. Without an address, the environment's `TEMPORAL_…` variables and profile files say it. */
export interface TemporalSettings {
  /** `host:port`, e.g. of the embedded server. */
  readonly address?: string
  readonly namespace?: string
  readonly environment?: Environment
}

/** A connection for starting and asking workflows, and one for a worker. Close both. */
export interface TemporalConnections {
  readonly address: string
  readonly namespace: string
  readonly client: Client
  /** Opened at first use: commands that only start or ask workflows do not need it. */
  openForWorker(): Promise<NativeConnection>
  close(): Promise<void>
}

const CONNECT_MS = 5_000

/**
 * Connects to Temporal. TLS, API key and namespace come from `@temporalio/envconfig` (profile files and `TEMPORAL_…`
 * variables) unless an address is given. Throws `worker/temporal-unreachable`.
 */
export async function connectTemporal(settings: TemporalSettings): Promise<TemporalConnections> {
  const configured = settings.address === undefined ? readProfile(settings.environment ?? {}) : undefined
  const options = configured?.connectionOptions ?? {}
  const address = settings.address ?? options.address ?? 'localhost:7233'
  const namespace = settings.namespace ?? configured?.namespace ?? 'default'
  const attempt = async <T>(connecting: Promise<T>): Promise<T> => {
    try {
      return await connecting
    } catch (error) {
      throw new WorkerError('worker/temporal-unreachable', `no Temporal server answers at \`${address}\``, {
        facts: { address, namespace },
        cause: error,
      })
    }
  }
  const { address: _, ...security } = options
  const connection = await attempt(Connection.connect({ ...security, address, connectTimeout: CONNECT_MS } as never))
  const natives: NativeConnection[] = []
  return {
    address,
    namespace,
    client: new Client({ connection, namespace }),
    async openForWorker() {
      const worker = await import('@temporalio/worker')
      const native = await attempt(worker.NativeConnection.connect({ ...options, address }))
      natives.push(native)
      return native
    },
    async close() {
      await connection.close()
      await Promise.all(natives.map((native) => native.close()))
    },
  }
}

/** Where nobody answers a call that was made on a connection (gRPC: UNAVAILABLE, DEADLINE_EXCEEDED). */
const AWAY: ReadonlySet<number> = new Set([14, 4])

/** Does something at a Temporal server. One that goes away meanwhile is `worker/temporal-unreachable`, as one that is not there. */
export async function atTemporal<T>(
  { address, namespace }: Pick<TemporalConnections, 'address' | 'namespace'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const call = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error
    if (!isGrpcServiceError(call) || !AWAY.has(call.code)) throw error
    throw new WorkerError('worker/temporal-unreachable', `the Temporal server at \`${address}\` answers no more`, {
      facts: { address, namespace, begun: 'what was begun is kept, and goes on when the server is back' },
      next: 'run the same command again: it brings the embedded server up, and finds what was begun',
      cause: error,
    })
  }
}

function readProfile(environment: Environment) {
  const set = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(set) })
}
