import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A service that runs as a process of its own. */
export interface ServingProcess {
  readonly url: string
  readonly pid: number
  /** Ends it with a signal and waits until it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

const SCRIPT = new URL('serving.ts', import.meta.url).pathname

/** Starts the service on a folder, under another command when one is given, and waits until it answers. */
export async function startProcess(dataDir: string, under: readonly string[] = []): Promise<ServingProcess> {
  const child = spawnServing(dataDir, under)
  const lines = createInterface({ input: child.stdout! })
  const first = await Promise.race([once(lines, 'line'), once(child, 'exit')])
  if (typeof first[0] !== 'string') throw new Error(`the service did not start: exit code ${first[0]}`)
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
  }
}

/** Starts the service where it must not start, and returns what it says. */
export async function startRefused(dataDir: string): Promise<{ exitCode: number | null; stderr: string; ms: number }> {
  const begun = performance.now()
  const child = spawnServing(dataDir, [])
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return { exitCode, stderr, ms: performance.now() - begun }
}

function spawnServing(dataDir: string, under: readonly string[]): ChildProcess {
  const [command = process.execPath, ...rest] = [...under, process.execPath, SCRIPT, dataDir]
  return spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
}
