/** Temporal's test server, whose time goes on by itself while nothing runs: days of waiting pass in seconds. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Connection } from '@temporalio/client'
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js'

export interface TimeServer {
  /** `host:port`. */
  readonly address: string
  /** The server's time, as it was when it was last asked for. */
  readonly now: () => number
  /** Asks for the server's time. */
  look(): Promise<number>
  /** Returns when so much of the server's time has passed, which it skips while nothing runs. */
  pass(ms: number): Promise<void>
  /** Gives back a hold on the time that the server keeps for a child workflow whose parent ends before it. */
  release(): Promise<void>
  close(): Promise<void>
}

const jars = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/temporal-test-server-1.31.0')

/** Whether the server (by Maven, `test/workflows/time/pom.xml`) and what runs it are on this machine. */
export const hasTimeServer = existsSync(jars) && spawnSync('java', ['--version']).status === 0

export async function startTimeServer(): Promise<TimeServer> {
  const source = join(import.meta.dirname, 'TimeServer.java')
  const options = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', join(jars, '*')]
  const server = spawn('java', [...options, source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = (await Promise.race([
    once(createInterface(server.stdout), 'line'),
    once(server, 'exit').then(() => Promise.reject(new Error('the test server did not start'))),
  ])) as [string]
  const address = `127.0.0.1:${port}`
  const connection = await Connection.connect({
    address,
    [InternalConnectionOptionsSymbol]: { supportsTestService: true },
  } as never)
  const { testService } = connection
  let nowMs = 0
  const look = async () => {
    const { time } = await testService!.getCurrentTime({})
    nowMs = Number(time!.seconds) * 1000 + Math.floor(time!.nanos! / 1e6)
    return nowMs
  }
  await look()
  return {
    address,
    now: () => nowMs,
    look,
    async pass(ms) {
      const deadline = Date.now() + 600_000
      const duration = { seconds: Math.floor(ms / 1000) as never, nanos: (ms % 1000) * 1e6 }
      await connection.withDeadline(deadline, () => testService!.unlockTimeSkippingWithSleep({ duration }))
      await look()
    },
    release: async () => void (await testService!.unlockTimeSkipping({})),
    async close() {
      await connection.close()
      await end(server)
    },
  }
}

async function end(server: ChildProcess): Promise<void> {
  const gone = once(server, 'exit')
  server.kill('SIGKILL')
  await gone
}
