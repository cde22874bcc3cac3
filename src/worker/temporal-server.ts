import { spawn } from 'node:child_process'
import { mkdir, open, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { WorkerError } from './error.ts'
import type { Announce } from './find-temporal.ts'

export interface TemporalServerOptions {
  /** From `findTemporal`. */
  readonly binary: string
  /** Where its state is kept; made when absent. The log goes beside it, as `<file>.log`. */
  readonly dbFile: string
  /** @default a free one */
  readonly port?: number
  readonly announce: Announce
}

export interface TemporalServer {
  /** `127.0.0.1:port`. */
  readonly address: string
  readonly pid: number
  /** Asks it to end, waits, and ends it if it does not. */
  stop(): Promise<void>
}

/** An answered step is on disk: `synchronous=FULL` is what power loss needs (design §2). */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=FULL']
/** Without these a step takes 100 ms after the first ten, with them 16 ms (measured; design §2). */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.transferProcessorMaxPollHostRPS=5000',
]
const UP_MS = 30_000
const STOP_MS = 10_000

/**
 * Starts the embedded Temporal server on the loopback interface, without its UI, and waits until it answers. It is not
 * bound to this process: whoever starts it stops it. Throws `worker/temporal-failed`.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { binary, dbFile, announce } = options
  await mkdir(dirname(dbFile), { recursive: true, mode: 0o700 })
  const port = options.port ?? (await freePort())
  const address = `127.0.0.1:${port}`
  const logFile = `${dbFile}.log`
  const log = await open(logFile, 'a', 0o600)
  const child = spawn(
    binary,
    serverArguments({ dbFile, port, httpPort: await freePort(), metricsPort: await freePort() }),
    {
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
    },
  )
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (status, signal) => resolve(`it ended with ${signal ?? `status ${status}`}`))
  })
  await log.close()
  const stop = () => stopChild(child.pid, ended)
  announce(`temporal: starting the embedded server at ${address}`)
  // Its end comes first: both are settled when it ended before it was asked, and the end says why.
  const failure = await Promise.race([ended, untilUp(address, () => child.exitCode === null)])
  if (failure !== undefined) {
    await stop()
    throw new WorkerError('worker/temporal-failed', `the embedded Temporal server did not come up: ${failure}`, {
      facts: { binary, state: dbFile, log: logFile, said: await lastLine(logFile) },
    })
  }
  // A parent that has nothing else to do may end; the server stays until it is stopped.
  child.unref()
  return { address, pid: child.pid!, stop }
}

function serverArguments(at: {
  readonly dbFile: string
  readonly port: number
  readonly httpPort: number
  readonly metricsPort: number
}): string[] {
  return [
    ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--db-filename', at.dbFile],
    ...['--port', String(at.port), '--http-port', String(at.httpPort), '--metrics-port', String(at.metricsPort)],
    ...['--log-level', 'warn'],
    ...PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
  ]
}

/** Resolves when the server answers and its namespace is there; with a reason when it takes too long. */
async function untilUp(address: string, runs: () => boolean): Promise<string | undefined> {
  const deadline = performance.now() + UP_MS
  let reason = ''
  while (runs() && performance.now() < deadline) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 })
      try {
        await connection.workflowService.describeNamespace({ namespace: 'default' })
        return undefined
      } finally {
        await connection.close()
      }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
      await delay(100)
    }
  }
  return `it does not answer after ${UP_MS / 1000} s: ${reason}`
}

async function stopChild(pid: number | undefined, ended: Promise<string>): Promise<void> {
  if (pid === undefined) return
  signalProcess(pid, 'SIGTERM')
  const timer = new AbortController()
  const late = delay(STOP_MS, 'late', { signal: timer.signal }).catch(() => 'ended')
  if ((await Promise.race([ended, late])) === 'late') signalProcess(pid, 'SIGKILL')
  await ended
  timer.abort()
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended already.
  }
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

async function lastLine(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.trim().split('\n').at(-1)?.slice(0, 500) ?? ''
}
