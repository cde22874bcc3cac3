/** What an operator does with the rows of a service that does not run: bring them to the newest schema, move them elsewhere. */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateFolder, readPrivate } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import {
  type Copied,
  copyFromPostgres,
  copyToPostgres,
  migrateFile,
  migrateServer,
  type PostgresSettings,
  readPostgresStanding,
  storeNotEmpty,
} from '../store/index.ts'
import { BOOTSTRAP_FILE } from './bootstrap.ts'
import { DATABASE_FILE, MASTER_KEY_FILE, OWNER_ONLY } from './files.ts'
import { lockFolder } from './lock.ts'
import { nothingServed, putInPlace } from './snapshot.ts'

/**
 * Brings the rows of a service to the newest schema, and says by which steps: those of its folder, which no service may run on,
 * or those of PostgreSQL. Throws `service/schema-differs`, `service/nothing-served`, `service/data-folder-in-use`,
 * `StoreUnavailable`.
 */
export async function migrateStore(
  dataDir: string,
  database: PostgresSettings | undefined,
  now: number,
): Promise<readonly string[]> {
  if (database) return migrateServer(database, now)
  const file = join(dataDir, DATABASE_FILE)
  if (!existsSync(file)) throw nothingServed(dataDir)
  const lock = await lockFolder(dataDir)
  try {
    return migrateFile(file, now)
  } finally {
    lock.release()
  }
}

/**
 * Copies the rows of a folder, which no service may run on, to a PostgreSQL without any, or the rows of PostgreSQL, which nobody
 * may serve, to a folder without any. The folder's other files stay as they are, and so does where the rows come from. Throws
 * `service/store-not-empty`, `service/store-served`, `service/schema-differs`, `service/copy-failed`,
 * `service/nothing-served`, `service/data-folder-in-use`, `StoreUnavailable`.
 */
export async function copyStore(
  dataDir: string,
  database: PostgresSettings,
  { to, now }: { readonly to: 'postgres' | 'folder'; readonly now: number },
): Promise<Copied> {
  const file = join(dataDir, DATABASE_FILE)
  if (to === 'postgres' && !existsSync(file)) throw nothingServed(dataDir)
  ensurePrivateFolder(dataDir)
  const lock = await lockFolder(dataDir)
  try {
    if (to === 'postgres') return await copyToPostgres(file, database, { now })
    if (existsSync(file)) throw storeNotEmpty(`\`${file}\``)
    for (const name of [MASTER_KEY_FILE, BOOTSTRAP_FILE]) {
      if (readPrivate(join(dataDir, name)) === undefined) throw fileMissing(join(dataDir, name))
    }
    const { processes, holds } = await readPostgresStanding(database)
    if (processes > 0) throw served(processes)
    if (!holds) throw nothingServed(dataDir)
    const beside = `${file}.new`
    try {
      closeSync(openSync(beside, 'wx', OWNER_ONLY))
      const copied = await copyFromPostgres(database, beside, now)
      putInPlace(beside, file)
      return copied
    } finally {
      rmSync(beside, { force: true })
    }
  } finally {
    lock.release()
  }
}

function served(processes: number): ServiceError {
  return new ServiceError(
    'service/store-served',
    `the database is served by ${processes === 1 ? 'a process' : `${processes} processes`}`,
    {
      next: 'end them; one that was killed is gone after ten seconds. Nothing was changed',
    },
  )
}

function fileMissing(path: string): ServiceError {
  return new ServiceError(
    'service/data-folder-incomplete',
    `\`${path}\` is missing, and the rows are of no use without it`,
    {
      facts: { path, written: 'nothing' },
      next: 'name the folder of a process that serves the database, or copy its `master.key` and `bootstrap.json` there first',
    },
  )
}
