import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { takeEnvironment } from '../config/index.ts'
import { messageOf } from '../diagnostics/index.ts'
import { ensurePrivateFolder, tightenPrivate, writePrivate } from '../local/index.ts'
import { clientTls, ensureCertificates, type TemporalTls } from './certificate-files.ts'
import { tlsOptions } from './connect.ts'
import { WorkerError } from './error.ts'
import type { Announce } from './find-temporal.ts'
import { ensureNamespace } from './namespace.ts'
import {
  type DynamicConfig,
  dynamicConfig,
  SERVER_FILES,
  SERVER_PARTS,
  type ServerPorts,
  serverConfig,
} from './server-config.ts'

export interface TemporalServerOptions {
  /** From `findTemporal`. */
  readonly binary: string
  /** Where its state, certificates, config and log are kept; made when absent. For one server at a time. */
  readonly folder: string
  /** What of it programs need to run goes to the server. @default the process's own */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** @default a free one */
  readonly port?: number
  /** How long closed runs are kept. @default 30 */
  readonly retentionDays?: number
  /** Settings of the server beside its own, by their names. */
  readonly dynamicConfig?: DynamicConfig
  /** Ends the start, and the server with it. */
  readonly signal?: AbortSignal
  readonly announce: Announce
}

export interface TemporalServer {
  /** `127.0.0.1:port`. */
  readonly address: string
  /** With these its clients connect; nobody else can. */
  readonly tls: TemporalTls
  readonly pid: number
  /** Resolves when the process has ended, with how. */
  readonly ended: Promise<string>
  /** Asks it to end, waits, and ends it if it does not. */
  stop(): Promise<void>
}

/** What a server of this folder is reached with while it runs. */
export function temporalServerTls(folder: string): TemporalTls {
  return clientTls(join(folder, SERVER_FILES.certificates))
}

const RETENTION_DAYS = 30
const UP_MS = 60_000
const STOP_MS = 10_000
/** Another program may take a port between its choice and its use. */
const ATTEMPTS = 3
const PORT_TAKEN = 'address already in use'

/**
 * Starts the Temporal server on the loopback interface and waits until it answers. On each of its ports it speaks only
 * with holders of a certificate of its folder. It is not bound to this process: the caller stops it. Throws
 * `worker/temporal-failed`, or the signal's reason; then the server has ended.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options)
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof WorkerError) || error.facts['said'] !== PORT_TAKEN) throw error
    }
  }
}

async function startOnce(options: TemporalServerOptions): Promise<TemporalServer> {
  const { binary, folder, announce, signal, retentionDays = RETENTION_DAYS } = options
  signal?.throwIfAborted()
  const ports = await choosePorts(options.port)
  await prepareFolder(folder, ports, options.dynamicConfig)
  const tls = temporalServerTls(folder)
  const address = `127.0.0.1:${ports.frontend.grpc}`
  const logFile = join(folder, SERVER_FILES.log)
  const saidBefore = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const logged = () => readFileSync(logFile).subarray(saidBefore).toString()
  announce(`temporal: starting the embedded server at ${address}`)
  const child = spawnServer(options, logFile)
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (status, by) => resolve(`it ended with ${by ?? `status ${status}`}`))
  })
  const stop = () => stopChild(child, ended)
  try {
    const up = untilUp({ address, tls, retentionDays, runs: () => !hasEnded(child), signal })
    // Its end comes first: both are settled when it ended before it was asked, and the end says why.
    const failure = await Promise.race([ended, up])
    if (failure === undefined) {
      // A parent that has nothing else to do may end; the server stays until it is stopped.
      child.unref()
      return { address, tls, pid: child.pid!, ended, stop }
    }
    throw new WorkerError('worker/temporal-failed', `the embedded Temporal server did not come up: ${failure}`, {
      facts: { binary, folder, serverLog: logFile, said: lastWords(logged()) },
    })
  } catch (error) {
    await stop()
    throw error
  }
}

async function prepareFolder(folder: string, ports: ServerPorts, more: DynamicConfig | undefined): Promise<void> {
  const at = (name: string) => join(folder, name)
  for (const made of [folder, at(SERVER_FILES.config)]) ensurePrivateFolder(made)
  await ensureCertificates(at(SERVER_FILES.certificates))
  for (const file of [SERVER_FILES.state, SERVER_FILES.log]) tightenPrivate(at(file))
  // Made here, because SQLite would make it readable by others.
  closeSync(openSync(at(SERVER_FILES.state), 'a', 0o600))
  forgetMembers(at(SERVER_FILES.state))
  const config = join(SERVER_FILES.config, `${SERVER_FILES.environment}.yaml`)
  writePrivate(at(config), serverConfig(ports))
  writePrivate(at(SERVER_FILES.dynamicConfig), dynamicConfig(more))
}

/** A server that was killed left the ports of its parts there, which the next one would try to reach for a while. */
function forgetMembers(state: string): void {
  const database = new DatabaseSync(state)
  try {
    const table = "select 1 from sqlite_schema where type = 'table' and name = 'cluster_membership'"
    if (database.prepare(table).get()) database.exec('delete from cluster_membership')
  } finally {
    database.close()
  }
}

/** It gets no setting and no secret of anything else. */
function spawnServer({ binary, folder, environment: own = takeEnvironment() }: TemporalServerOptions, logFile: string) {
  const log = openSync(logFile, 'a', 0o600)
  const { environment, config } = SERVER_FILES
  // Every caller that is let in at all is its owner: nothing is left for an authorizer to decide.
  const where = ['--root', '.', '--config', config, '--env', environment, '--allow-no-auth']
  const { PATH, HOME, TMPDIR, TZ } = own
  try {
    return spawn(binary, [...where, 'start'], {
      cwd: folder,
      env: { PATH, HOME, TMPDIR, TZ },
      stdio: ['ignore', log, log],
      detached: true,
    })
  } finally {
    closeSync(log)
  }
}

/** Resolves when the server answers and its namespace is there; with a reason when it takes too long. */
async function untilUp({
  address,
  tls,
  retentionDays,
  runs,
  signal,
}: {
  readonly address: string
  readonly tls: TemporalTls
  readonly retentionDays: number
  readonly runs: () => boolean
  readonly signal: AbortSignal | undefined
}): Promise<string | undefined> {
  const deadline = performance.now() + UP_MS
  let reason = ''
  while (runs() && performance.now() < deadline) {
    signal?.throwIfAborted()
    try {
      const connection = await Connection.connect({ address, tls: tlsOptions(tls), connectTimeout: 300 })
      try {
        const ready = () => ensureNamespace(connection, { namespace: 'default', retentionDays })
        await connection.withDeadline(Date.now() + UP_MS, ready)
        return undefined
      } finally {
        await connection.close()
      }
    } catch (error) {
      reason = messageOf(error)
      await delay(50)
    }
  }
  return `it does not answer after ${UP_MS / 1000} s: ${reason}`
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return
  child.kill('SIGTERM')
  const timer = new AbortController()
  const late = delay(STOP_MS, 'late', { signal: timer.signal }).catch(() => 'ended')
  if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL')
  await ended
  timer.abort()
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Held open together until all are known, so that they differ. */
async function choosePorts(port: number | undefined): Promise<ServerPorts> {
  const probes = await Promise.all(SERVER_PARTS.flatMap(() => [listen(), listen()]))
  const free = probes.map((probe) => (probe.address() as { port: number }).port)
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  const ports = SERVER_PARTS.map((part, index) => {
    const [grpc, membership] = [free[2 * index]!, free[2 * index + 1]!]
    return [part, { grpc: part === 'frontend' ? (port ?? grpc) : grpc, membership }]
  })
  return Object.fromEntries(ports) as ServerPorts
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => resolve(probe))
  })
}

function lastWords(text: string): string {
  if (text.includes(PORT_TAKEN)) return PORT_TAKEN
  return text.trim().split('\n').at(-1)?.slice(0, 500) ?? ''
}
