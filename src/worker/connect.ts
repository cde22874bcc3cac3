import { readFileSync } from 'node:fs'
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  type TLSConfig,
} from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import type { NativeConnection } from '@temporalio/worker'
import { endedAfterClose, type GrpcInterceptor } from './after-close.ts'
import type { TemporalTls } from './certificate-files.ts'
import { createClientGuard } from './client-guard.ts'
import { WorkerError } from './error.ts'
import { type Listener, listenAt } from './listener.ts'
import { failureConverter, payloadConverter } from './payload-converter.ts'
import type { PayloadSeal } from './payload-seal.ts'
import { DEFAULT_ADDRESS, readProfile, type TemporalEnvironment } from './profile.ts'
import { clientSpans } from './spans.ts'

/** The address of Temporal. Without one, the environment's `TEMPORAL_…` variables and profile files say it. */
export interface TemporalSettings {
  /** `host:port`, e.g. of the embedded server. */
  readonly address?: string
  /** Of the embedded server at that address; others are named in the environment. */
  readonly tls?: TemporalTls
  readonly namespace?: string
  readonly environment?: TemporalEnvironment
  /** How long a call and its retries may take. @default 40 s: a long poll takes up to 20 */
  readonly callMs?: number
}

/** A connection for starting and asking workflows, and one for a worker. Close both. */
export interface TemporalConnections {
  readonly address: string
  readonly namespace: string
  /** The keys that client and worker seal payloads with. */
  readonly seal: PayloadSeal
  readonly client: Client
  /** Asks the server for nothing but an answer, which it gives also where workers are busy. */
  readonly answers: (withinMs: number) => Promise<boolean>
  /** Opened at first use: commands that only start or ask workflows do not need it. */
  openForWorker(): Promise<NativeConnection>
  close(): Promise<void>
}

const CONNECT_MS = 5_000
const CALL_MS = 40_000

/**
 * Connects to Temporal. TLS, API key and namespace come from `@temporalio/envconfig` (profile files and `TEMPORAL_…`
 * variables) unless an address is given. What goes there is sealed, and what comes back must be. Throws `worker/temporal-unreachable`,
 * and what `readProfile` throws.
 */
export async function connectTemporal(settings: TemporalSettings, seal: PayloadSeal): Promise<TemporalConnections> {
  const configured = settings.address === undefined ? readProfile(settings.environment ?? {}) : undefined
  const options = configured?.connectionOptions ?? (settings.tls ? { tls: tlsOptions(settings.tls) } : {})
  const address = settings.address ?? options.address ?? DEFAULT_ADDRESS
  const namespace = settings.namespace ?? configured?.namespace ?? 'default'
  const attempt = async <T>(connecting: Promise<T>): Promise<T> => {
    try {
      return await connecting
    } catch (error) {
      const { says, next } = NOT_REACHED[await listenAt(address, options.tls)]
      throw new WorkerError('worker/temporal-unreachable', says(address), {
        facts: { address, namespace, tls: describeTls(options.tls) },
        ...(next === undefined ? {} : { next }),
        cause: error,
      })
    }
  }
  const { address: _, ...security } = options
  let isClosed = false
  const interceptors = [...withinLimit(settings.callMs ?? CALL_MS), endedAfterClose(() => isClosed)]
  const connection = Connection.lazy({ ...security, address, connectTimeout: CONNECT_MS, interceptors } as never)
  await attempt(
    connection.ensureConnected().catch(async (error: unknown) => {
      // Else it would try again and again for as long as this process runs.
      await connection.close()
      throw error
    }),
  )
  const natives: NativeConnection[] = []
  return {
    address,
    namespace,
    seal,
    client: new Client({
      connection,
      namespace,
      // A host's name is nobody's business who reads a history.
      identity: 'quorate',
      dataConverter: { payloadConverter, failureConverter, payloadCodecs: [seal.codec] } as DataConverter,
      interceptors: {
        workflow: [clientSpans, createClientGuard({ seal, namespace, workflowService: connection.workflowService })],
      },
    }),
    async answers(withinMs) {
      const asked = () => connection.workflowService.getSystemInfo({})
      return connection.withDeadline(Date.now() + withinMs, asked).then(
        () => true,
        () => false,
      )
    },
    async openForWorker() {
      const worker = await import('@temporalio/worker')
      const native = await attempt(worker.NativeConnection.connect({ ...options, address }))
      natives.push(native)
      return native
    },
    async close() {
      isClosed = true
      await connection.close()
      await Promise.all(natives.map((native) => native.close()))
    },
  }
}

/** Ends calls that get no answer: a server that hangs keeps its connections, and the SDK would wait for ever. */
function withinLimit(callMs: number): GrpcInterceptor[] {
  return [
    (options, nextCall) =>
      nextCall({ ...options, deadline: options.deadline ?? Date.now() + callMs }) as ReturnType<GrpcInterceptor>,
    makeGrpcRetryInterceptor(defaultGrpcRetryOptions()),
  ]
}

/** What a failed connection is told as, by what was found at the address. */
const NOT_REACHED: Readonly<Record<Listener, { readonly says: (address: string) => string; readonly next?: string }>> =
  {
    none: { says: (address) => `no Temporal server answers at \`${address}\`` },
    silent: {
      says: (address) => `what listens at \`${address}\` takes connections and does not answer`,
      next: 'look whether it hangs (its log, its load), restart it if it does, and run the command again; or correct TEMPORAL_ADDRESS',
    },
    refuses: {
      says: (address) => `what listens at \`${address}\` does not take this client as one of Temporal's`,
      next:
        'give its certificates (TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH, TEMPORAL_TLS_SERVER_CA_CERT_PATH, ' +
        'or a profile of them), or correct TEMPORAL_ADDRESS',
    },
    'speaks HTTP/2': {
      says: (address) => `what listens at \`${address}\` takes this client in, but does not answer as Temporal does`,
      next: 'wait until it has come up and run the command again, or correct TEMPORAL_ADDRESS',
    },
  }

/** The settings of the SDK. The server is known by its certificate's name, whichever address it is reached at. */
export function tlsOptions({ authority, certificate, key }: TemporalTls): TLSConfig {
  return {
    serverNameOverride: 'localhost',
    serverRootCACertificate: readFileSync(authority),
    clientCertPair: { crt: readFileSync(certificate), key: readFileSync(key) },
  }
}

function describeTls(tls: TLSConfig | boolean | null | undefined): string {
  if (!tls) return 'none'
  return typeof tls === 'object' && tls.clientCertPair ? 'with a client certificate' : 'without a client certificate'
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
