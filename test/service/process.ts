import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { choosePorts } from '../../src/loopback/index.ts'
import { type ActivityType, activities, type Wire } from '../../src/protocol/index.ts'
import type { ServiceOptions } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { programFile } from '../programs.ts'
import type { Tampering } from './tamper.ts'

/** A service that runs as a process of its own. */
export interface ServingProcess {
  readonly url: string
  readonly pid: number
  /** Ends it with a signal and waits until it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Arms what it was tampered with. */
  arm(): void
  /** Collects garbage and tells what memory is left. Not of a service that was tampered with. */
  memory(): Promise<Memory>
  /** Waits until it is gone by itself. */
  gone(): Promise<void>
}

/** Memory of a process, in MB. */
export interface Memory {
  /** All that is resident. */
  readonly resident: number
  /** Objects of the main thread that are in use, and buffers that they hold. */
  readonly used: number
}

/** How a service is served that is a process of its own. */
export interface ServingSettings
  extends Pick<
    ServiceOptions,
    | 'chains'
    | 'operator'
    | 'allowedWebhookHosts'
    | 'port'
    | 'privateIssuers'
    | 'proxy'
    | 'trustedProxies'
    | 'providerUrls'
  > {
  readonly tampering?: Tampering
  /** The PostgreSQL that the rows are in. @default a file of the folder */
  readonly databaseUrl?: string
  /** @default the system's */
  readonly clock?: FastClock
}

/** A clock that shows the time of `from` at that time, and runs so many times as fast. */
export interface FastClock {
  readonly from: number
  readonly speed: number
}

/** What a clock shows when it is `now` on the machine's, in every process the same. */
export function clockOf({ from, speed }: FastClock): (now: number) => number {
  return (now) => Math.round(from + (now - from) * speed)
}

interface Started extends ServingSettings {
  /** The command that it runs under. @default none */
  readonly under?: readonly string[]
  /** The file of a service with a mistake. @default the service's */
  readonly program?: string
}

/** Starts the service on a folder and waits until it answers. */
export async function startProcess(dataDir: string, options: Started = {}): Promise<ServingProcess> {
  // It can be started again at the same port: nothing takes that while it is down.
  const port = options.port ?? (await choosePorts(1))[0]!
  const child = spawnServing(dataDir, { ...options, port })
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(0, 10_000)
  })
  const lines = createInterface({ input: child.stdout! })
  const first = await Promise.race([once(lines, 'line'), once(child, 'close')])
  if (typeof first[0] !== 'string') throw new Error(`the service did not start: exit code ${first[0]}\n${stderr}`)
  const { url, pid } = JSON.parse(first[0]) as { url: string; pid: number }
  return {
    url,
    pid,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      process.kill(pid, signal)
      await gone
    },
    arm: () => void process.kill(pid, 'SIGUSR2'),
    async memory() {
      const line = once(lines, 'line')
      process.kill(pid, 'SIGUSR2')
      return JSON.parse((await line)[0]) as Memory
    },
    async gone() {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** Starts the service where it must not start, and returns what it says. */
export async function startRefused(dataDir: string): Promise<{ exitCode: number | null; stderr: string; ms: number }> {
  const begun = performance.now()
  const child = spawnServing(dataDir, {})
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, stderr, ms: performance.now() - begun }
}

function spawnServing(dataDir: string, { under = [], program, ...settings }: Started): ChildProcess {
  const file = program ?? programFile('test/service/serving.ts')
  const line = [...under, process.execPath, file, dataDir, JSON.stringify(settings)]
  const [command = process.execPath, ...rest] = line
  return spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Speaks for the root user of a service that runs as a process. */
export interface ProcessClient {
  readonly organizationId: string
  readonly rootUserId: string
  /** Makes a body; no two are equal. */
  body(type: ActivityType, parameters: object): string
  /** Sends a body once: the activity, or nothing when nobody answered. Throws when it is refused. */
  send(url: string, body: string): Promise<Wire.Activity | undefined>
}

/** Reads what a service wrote into its folder for its first user; bodies have the time of the service's clock. */
export function readClient(dataDir: string, clock: () => number = Date.now): ProcessClient {
  const { organizationId, rootUserId, apiPrivateKey } = JSON.parse(
    readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'),
  )
  const stamper = createApiKeyStamper({ privateKey: new Secret(apiPrivateKey as string) })
  let bodies = 0
  return {
    organizationId,
    rootUserId,
    body(type, parameters) {
      return JSON.stringify({ type, timestampMs: String(clock() + (bodies++ % 60_000)), organizationId, parameters })
    },
    async send(url, body) {
      const { path } = activities[JSON.parse(body).type as ActivityType]
      const stamp = await stamper.stamp(encodeUtf8(body))
      try {
        const response = await fetch(`${url}${path}`, { method: 'POST', body, headers: { [stamp.name]: stamp.value } })
        const text = await response.text()
        if (response.status !== 200) throw new Error(`refused with ${response.status}: ${text}`)
        return (JSON.parse(text) as { activity: Wire.Activity }).activity
      } catch (error) {
        // `fetch failed`: the socket broke. Anything else is a finding.
        if (error instanceof TypeError || (error instanceof Error && 'code' in error)) return undefined
        throw error
      }
    },
  }
}
