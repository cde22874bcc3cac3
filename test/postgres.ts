/**
 * PostgreSQL for tests: Debian's server, or that of `QUORATE_POSTGRES_BIN`, on a socket in a folder of its own and no port. It
 * is a child of the tests, never the machine's own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Database, openDatabase, openPostgres } from '../src/service/store/index.ts'
import { Secret } from '../src/telemetry/index.ts'

/** Where Debian puts its versions, and what one's own folder is named by. */
const DEBIAN = '/usr/lib/postgresql'

/** Nobody, on every Linux: the server refuses to run as root. */
const NOBODY = 65_534

/** The folder of the server's programs, the newest of them; undefined where there is none. */
export function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [process.env['QUORATE_POSTGRES_BIN'], ...versions.map((version) => join(DEBIAN, version, 'bin'))]
  return folders.find((folder) => folder !== undefined && existsSync(join(folder, 'initdb')))
}

/** Says that services of tests keep their rows in PostgreSQL: `QUORATE_TEST_STORE=postgres`. */
export const isOnPostgres = process.env['QUORATE_TEST_STORE'] === 'postgres'

/** The folder of the server that all files of a run share, which its setup starts. */
const SHARED = 'QUORATE_TEST_POSTGRES'

const byFolder = new Map<string, { readonly url: Secret }>()

/** The database of a data folder, where services of tests are on PostgreSQL. */
export async function databaseOf(
  dataDir: string,
): Promise<{ readonly url: Secret; readonly connections: number } | undefined> {
  if (!isOnPostgres) return undefined
  const known = byFolder.get(dataDir) ?? { url: await createDatabase(process.env[SHARED]!) }
  byFolder.set(dataDir, known)
  return { ...known, connections: 4 }
}

/** Opens the store of a service's folder beside the service, whatever database it is. */
export async function openStoreOf(dataDir: string, options: { readonly now: number }): Promise<Database> {
  const settings = await databaseOf(dataDir)
  return settings ? openPostgres(settings, options) : openDatabase(join(dataDir, 'quorate.db'), options)
}

/** Drops it, if there is one. */
export async function dropDatabaseOf(dataDir: string): Promise<void> {
  const known = byFolder.get(dataDir)
  if (!known || !byFolder.delete(dataDir)) return
  const name = URL.parse(known.url.reveal())!.pathname.slice(1)
  await withServer(process.env[SHARED]!, (client) => client.query(`drop database ${name} with (force)`))
}

/** Starts the server of a whole run, if that is on PostgreSQL. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!isOnPostgres) return undefined
  const server = await startPostgres()
  process.env[SHARED] = server.folder
  return () => server.close()
}

function urlOf(folder: string, name: string): Secret {
  return new Secret(`postgresql://quorate@${encodeURIComponent(folder)}/${name}`)
}

async function withServer<T>(folder: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: urlOf(folder, 'postgres').reveal() })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function createDatabase(folder: string): Promise<Secret> {
  const name = `q${process.pid}_${++made}`
  await withServer(folder, (client) => client.query(`create database ${name}`))
  return urlOf(folder, name)
}

/** A server that runs. */
export interface TestPostgres {
  readonly folder: string
  /** Makes an empty database, and says where it is. */
  create(): Promise<Secret>
  url(name: string): Secret
  /** Stops it at once, as a machine that fails does, and starts it again after a while, or when something has come. */
  crash(until?: number | Promise<unknown>): Promise<void>
  close(): Promise<void>
}

let made = 0

/** Starts a server. @default isDurable false: nothing of it outlives the machine, which a test does not ask for */
export async function startPostgres({
  isDurable = false,
}: {
  readonly isDurable?: boolean
} = {}): Promise<TestPostgres> {
  const bin = findPostgres()
  if (bin === undefined)
    throw new Error('expected PostgreSQL: install Debian’s `postgresql`, or set QUORATE_POSTGRES_BIN')
  const folder = mkdtempSync(join(tmpdir(), 'quorate-postgres-'))
  const own = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (own.uid !== undefined) chownSync(folder, own.uid, own.gid)
  const data = join(folder, 'data')
  const init = [
    '-D',
    data,
    '-U',
    'quorate',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]
  execFileSync(join(bin, 'initdb'), init, { ...own, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    max_connections: '200',
    shared_buffers: '32MB',
  }
  const fast = isDurable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }
  const flags = Object.entries({ ...settings, ...fast }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const url = (name: string) => urlOf(folder, name)

  async function start(): Promise<ChildProcess> {
    const child = spawn(join(bin!, 'postgres'), ['-D', data, ...flags], { ...own, cwd: folder, stdio: 'ignore' })
    for (;;) {
      if (child.exitCode !== null) throw new Error('expected PostgreSQL to start')
      const client = new pg.Client({ connectionString: url('postgres').reveal() })
      client.on('error', () => {})
      const isUp = await client.connect().then(
        () => true,
        () => false,
      )
      await client.end().catch(() => {})
      if (isUp) return child
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  let child = await start()
  return {
    folder,
    url,
    create: () => createDatabase(folder),
    async crash(until = 0) {
      // SIGQUIT is an immediate shutdown: nothing is written down any more (postgresql.org/docs/15/server-shutdown.html).
      await stop(child, 'SIGQUIT')
      await (typeof until === 'number' ? new Promise((resolve) => setTimeout(resolve, until)) : until)
      child = await start()
    },
    async close() {
      await stop(child, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
