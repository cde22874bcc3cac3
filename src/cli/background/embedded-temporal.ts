import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { findTemporal, startTemporalServer } from '../../worker/index.ts'

interface Options {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly announce: (text: string) => void
  readonly closers: (() => Promise<void> | void)[]
}

interface Running {
  readonly pid: number
  readonly address: string
}

/**
 * Starts the embedded Temporal server on the data folder's state. One that outlived a killed background process is
 * stopped first: two servers must never write one state file.
 */
export async function startEmbeddedTemporal(
  dataDir: string,
  { environment, announce, closers }: Options,
): Promise<string> {
  const note = noteOf(dataDir)
  await stopLeftOverTemporal(dataDir)
  const binary = await findTemporal({ announce, environment })
  const server = await startTemporalServer({ binary, dbFile: join(dataDir, 'temporal.db'), announce })
  writeFileSync(note, JSON.stringify({ pid: server.pid, address: server.address } satisfies Running), { mode: 0o600 })
  closers.push(async () => {
    await server.stop()
    rmSync(note, { force: true })
  })
  return server.address
}

/** Stops a Temporal server that outlived a killed background process of this data folder. */
export async function stopLeftOverTemporal(dataDir: string): Promise<void> {
  const running = read(noteOf(dataDir))
  // A process id may have been given to another program since; that its address answers shows that it is still ours.
  if (!running || !(await answers(running.address))) return
  process.kill(running.pid, 'SIGTERM')
  while (await answers(running.address)) await new Promise((resolve) => setTimeout(resolve, 100))
}

function noteOf(dataDir: string): string {
  return join(dataDir, 'temporal.json')
}

function read(note: string): Running | undefined {
  try {
    return JSON.parse(readFileSync(note, 'utf8')) as Running
  } catch {
    return undefined
  }
}

function answers(address: string): Promise<boolean> {
  const [host, port] = address.split(':')
  return new Promise((resolve) => {
    const socket = createConnection({ host: host!, port: Number(port) })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
