/**
 * PostgreSQL for tests: Debian's server, or that of `QUORATE_POSTGRES_BIN`, on a socket in a folder of its own and no port. It
 * is a child of the tests, never the machine's own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
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

/** A server that runs. */
export interface TestPostgres {
  readonly folder: string
  /** Makes an empty database, or a copy of another one, and says where it is. */
  create(template?: string): Promise<Secret>
  url(name: string): Secret
  /** Stops it at once, as a machine that fails does, and starts it again after a while. */
  crash(pauseMs?: number): Promise<void>
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
  const url = (name: string) => new Secret(`postgresql://quorate@${encodeURIComponent(folder)}/${name}`)

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
    async create(template) {
      const name = `q${process.pid}_${++made}`
      const client = new pg.Client({ connectionString: url('postgres').reveal() })
      await client.connect()
      await client.query(`create database ${name}${template === undefined ? '' : ` template ${template}`}`)
      await client.end()
      return url(name)
    },
    async crash(pauseMs = 0) {
      // SIGQUIT is an immediate shutdown: nothing is written down any more (postgresql.org/docs/15/server-shutdown.html).
      await stop(child, 'SIGQUIT')
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      child = await start()
    },
    async close() {
      await stop(child, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
