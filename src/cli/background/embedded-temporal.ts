import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { QuorateError } from '../../diagnostics/index.ts'
import { ensurePrivateFolder } from '../../local/index.ts'
import {
  findTemporal,
  startTemporalServer,
  type TemporalServer,
  type TemporalTls,
  temporalServerTls,
} from '../../worker/index.ts'
import { hasFormerTemporal, setAsideFormerTemporal } from './former-temporal.ts'
import { isAlive } from './is-alive.ts'
import { readNote, writeNote } from './note.ts'

interface Options {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly announce: (text: string) => void
  readonly closers: (() => Promise<void> | void)[]
  /** Ends the search for a binary, a build, or the start. */
  readonly signal?: AbortSignal
  /** Called when the server ends although nobody stopped it. */
  readonly onDeath?: (how: string) => void
}

/** The file in the data folder that names the running Temporal server; `ended` is set when it ended although nobody stopped it. */
interface Note {
  readonly pid: number
  readonly address: string
  readonly ended?: { readonly how: string; readonly at: string }
}

const RETENTION_VARIABLE = 'QUORATE_TEMPORAL_RETENTION_DAYS'
const STOP_MS = 10_000

/**
 * Starts the embedded Temporal server on the data folder's state. One that outlived a killed background process is
 * stopped first: two servers must never write one state file.
 */
export async function startEmbeddedTemporal(
  dataDir: string,
  { environment, announce, closers, signal, onDeath }: Options,
): Promise<Pick<TemporalServer, 'address' | 'tls'>> {
  const retentionDays = readRetention(environment)
  // Its certificates and its histories are believed.
  ensurePrivateFolder(folderOf(dataDir))
  const died = temporalDeath(dataDir)
  if (died) announce(`temporal: the embedded server died at ${died.at} (${died.how}); starting it again on its state`)
  await stopLeftOverTemporal(dataDir)
  setAsideFormerTemporal(dataDir, announce)
  const binary = await findTemporal({ announce, environment, ...(signal ? { signal } : {}) })
  const server = await startTemporalServer({
    binary,
    folder: folderOf(dataDir),
    environment,
    announce,
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(signal ? { signal } : {}),
  })
  const { address, tls, pid } = server
  let [stopping, dead] = [false, false]
  closers.push(async () => {
    stopping = true
    await server.stop()
    if (!dead) rmSync(noteOf(dataDir), { force: true })
  })
  write(dataDir, { pid, address })
  void server.ended.then((how) => {
    if (stopping) return
    dead = true
    write(dataDir, { pid, address, ended: { how, at: new Date().toISOString() } })
    onDeath?.(how)
  })
  return { address, tls }
}

/** The certificates with which commands reach the embedded server of a data folder. */
export function embeddedTemporalTls(dataDir: string): TemporalTls {
  return temporalServerTls(folderOf(dataDir))
}

/** How and when the embedded server ended although nobody stopped it; undefined if it did not. */
export function temporalDeath(dataDir: string): Note['ended'] {
  return read(dataDir)?.ended
}

/**
 * The embedded server that a background process has left behind which did not end in order: it, and so its service and
 * worker, were killed. Undefined while one runs too: ask for that first.
 */
export async function leftOverTemporal(
  dataDir: string,
): Promise<{ readonly pid: number; readonly runs: boolean } | undefined> {
  const note = read(dataDir)
  if (!note || note.ended) return undefined
  return { pid: note.pid, runs: await isServerOf(dataDir, note) }
}

/** Stops a Temporal server that outlived a killed background process of this data folder; gives its pid. */
export async function stopLeftOverTemporal(dataDir: string): Promise<number | undefined> {
  const note = read(dataDir)
  if (!note || note.ended || !(await isServerOf(dataDir, note))) return undefined
  const { pid } = note
  process.kill(pid, 'SIGTERM')
  const deadline = performance.now() + STOP_MS
  while (isAlive(pid)) {
    if (performance.now() > deadline) process.kill(pid, 'SIGKILL')
    await delay(50)
  }
  return pid
}

/** The embedded server that was started last, whether it runs or not; undefined after one that was stopped in order. */
export function embeddedTemporalPid(dataDir: string): number | undefined {
  return read(dataDir)?.pid
}

/** The same of this one server, after which nothing tells any more of the process that was killed. */
export async function clearLeftOverTemporal(dataDir: string, pid: number | undefined): Promise<number | undefined> {
  // Another one has come up meanwhile, with a background process of its own.
  const isIt = () => pid !== undefined && read(dataDir)?.pid === pid
  if (!isIt() || temporalDeath(dataDir)) return undefined
  const stopped = await stopLeftOverTemporal(dataDir)
  if (isIt()) rmSync(noteOf(dataDir), { force: true })
  return stopped
}

/** A process id may have been given to another program since: what is stopped must be known by more than that. */
async function isServerOf(dataDir: string, { pid, address }: Note): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (hasFormerTemporal(dataDir)) return takesConnections(address)
  if (process.platform !== 'linux') return knowsCertificates(address, embeddedTemporalTls(dataDir))
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folderOf(dataDir))
  } catch {
    return false
  }
}

function readRetention(environment: Options['environment']): number | undefined {
  const text = environment[RETENTION_VARIABLE]
  if (!text) return undefined
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text)
  throw new QuorateError('config/invalid', `expected ${RETENTION_VARIABLE} to be 1 to 9999 days, got \`${text}\``, {
    next: 'correct it or unset it; closed runs are kept for 30 days without it',
  })
}

const folderOf = (dataDir: string) => join(dataDir, 'temporal')
const noteOf = (dataDir: string) => join(dataDir, 'temporal.json')

const read = (dataDir: string) => readNote<Note>(noteOf(dataDir))

function write(dataDir: string, note: Note): void {
  writeNote(noteOf(dataDir), note)
}

/** As servers of the former version did: without TLS. */
function takesConnections(address: string): Promise<boolean> {
  return answers(createConnection(placeOf(address)), 'connect')
}

/** Whether who answers there holds the server's key of this data folder. */
function knowsCertificates(address: string, { authority, certificate, key }: TemporalTls): Promise<boolean> {
  const [ca, cert, own] = [authority, certificate, key].map((file) => readFileSync(file))
  const socket = connectTls({ ...placeOf(address), servername: 'localhost', ca: ca!, cert: cert!, key: own! })
  return answers(socket, 'secureConnect')
}

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const [host, port] = address.split(':')
  return { host: host!, port: Number(port) }
}

function answers(socket: ReturnType<typeof createConnection>, event: string): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(2_000, () => end(false))
    socket.once(event, () => end(true))
    socket.once('error', () => end(false))
  })
}
