import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assertPlain, copyPrivate, ensurePrivateFolder, readPrivate, writePrivate } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import {
  copyFromPostgres,
  copyToPostgres,
  type DatabaseFacts,
  type GivenUpWebhooks,
  migrateFile,
  type PostgresSettings,
  packDatabase,
  readDatabaseFacts,
  readGivenUpWebhooks,
  readSnapshotFile,
  storeNotEmpty,
  unpackDatabase,
} from '../store/index.ts'
import { BOOTSTRAP_FILE } from './bootstrap.ts'
import { endFirstStart } from './data-folder.ts'
import { DATABASE_FILE, MASTER_KEY_FILE, NEXT_KEY_FILE, OPERATOR_FILE, OWNER_ONLY } from './files.ts'
import { lockFolder } from './lock.ts'
import { checkSharedFolder } from './shared-folder.ts'

/**
 * The files of a snapshot besides the database. The master key is among them, or nothing sealed could be opened: a
 * reader of a snapshot has the wallets.
 */
const FILES = [MASTER_KEY_FILE, NEXT_KEY_FILE, BOOTSTRAP_FILE, OPERATOR_FILE] as const

/**
 * Writes a data folder into a file that its owner alone may read, whether its service runs or not; what was
 * acknowledged before the call is in it. With PostgreSQL, whose rows it takes at one moment, it is the folder of one of its
 * processes. Throws `service/nothing-served`, `service/snapshot-exists`, `service/schema-differs`, `StoreUnavailable`.
 */
export async function saveSnapshot(
  dataDir: string,
  file: string,
  database?: PostgresSettings | undefined,
): Promise<DatabaseFacts> {
  const source = join(dataDir, DATABASE_FILE)
  if (!existsSync(database ? join(dataDir, MASTER_KEY_FILE) : source)) throw nothingServed(dataDir)
  if (existsSync(file)) {
    throw new ServiceError('service/snapshot-exists', `\`${file}\` exists already`, { next: 'choose another name' })
  }
  const texts = new Map<string, string>()
  for (const name of FILES) {
    const text = readPrivate(join(dataDir, name))
    if (text !== undefined) texts.set(name, text)
  }
  // A folder that nobody else can enter or foresee: SQLite keeps a journal beside what it writes.
  const folder = mkdtempSync(join(dirname(file), '.quorate-snapshot-'))
  const beside = join(folder, DATABASE_FILE)
  try {
    closeSync(openSync(beside, 'wx', OWNER_ONLY))
    if (database) {
      const rows = join(folder, 'rows.db')
      closeSync(openSync(rows, 'wx', OWNER_ONLY))
      await copyFromPostgres(database, rows, Date.now())
      return putPacked(await packDatabase(rows, beside, texts))
    }
    return putPacked(await packDatabase(source, beside, texts))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }

  function putPacked(facts: DatabaseFacts): DatabaseFacts {
    putInPlace(beside, file)
    return facts
  }
}

/** Says that nothing is there to work with. */
export function nothingServed(dataDir: string): ServiceError {
  return new ServiceError('service/nothing-served', `no service keeps its data in \`${dataDir}\``, {
    facts: { folder: dataDir },
    next: 'name its folder with --folder; one on PostgreSQL is named by DATABASE_URL as well',
  })
}

/**
 * Says what a snapshot holds, which is keys: others than its owner may neither read nor write it. Throws `service/snapshot-invalid`
 * and `local/exposed`.
 */
export function readSnapshot(file: string): DatabaseFacts {
  return (assertPlain(file) ? readSnapshotFile(file) : undefined) ?? refuseSnapshot(file)
}

function refuseSnapshot(file: string): never {
  throw new ServiceError('service/snapshot-invalid', `\`${file}\` is no whole snapshot`, {
    facts: { file },
    next: 'give a file that `quorate snapshot save` wrote; nothing was changed',
  })
}

/** Says what a data folder holds; undefined when no service has used it. */
export function readFolder(dataDir: string): DatabaseFacts | undefined {
  const path = join(dataDir, DATABASE_FILE)
  return existsSync(path) ? readDatabaseFacts(path) : undefined
}

/** Says which webhooks the service of a data folder has given up; undefined when no service has used it. */
export function readWebhooksGivenUp(dataDir: string): GivenUpWebhooks | undefined {
  const path = join(dataDir, DATABASE_FILE)
  return existsSync(path) ? readGivenUpWebhooks(path) : undefined
}

/**
 * Puts a snapshot into a data folder that no service runs on, in place of what the service kept there. It is checked
 * before anything is touched. With PostgreSQL its rows go there, where none may be yet, and the folder gets the rest. Throws
 * `service/data-folder-in-use`, `service/snapshot-invalid`, `service/store-not-empty`, `StoreUnavailable`.
 */
export async function restoreSnapshot(
  dataDir: string,
  file: string,
  database?: PostgresSettings | undefined,
): Promise<DatabaseFacts> {
  readSnapshot(file)
  ensurePrivateFolder(dataDir)
  const lock = await lockFolder(dataDir)
  const path = join(dataDir, DATABASE_FILE)
  const beside = `${path}.new`
  try {
    rmSync(beside, { force: true })
    // What is put in place is what was looked at: the file itself may be another by now.
    const facts = (copyPrivate(file, beside) ? readSnapshotFile(beside) : undefined) ?? refuseSnapshot(file)
    const texts = unpackDatabase(beside, { restoredAt: new Date().toISOString() })
    const writeTexts = () => {
      for (const name of FILES) {
        const text = texts.get(name)
        if (text === undefined) rmSync(join(dataDir, name), { force: true })
        else writePrivate(join(dataDir, name), text)
      }
    }
    if (database) {
      checkSharedFolder(dataDir)
      assertNoOtherKey(join(dataDir, MASTER_KEY_FILE), texts.get(MASTER_KEY_FILE))
      const now = Date.now()
      // An older snapshot is brought to the newest schema on the way.
      migrateFile(beside, now)
      await copyToPostgres(beside, database, { now, beforeCommit: writeTexts })
    } else {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
      writeTexts()
      putInPlace(beside, path)
    }
    endFirstStart(dataDir)
    return facts
  } finally {
    rmSync(beside, { force: true })
    lock.release()
  }
}

/** The rows in PostgreSQL are nobody's here, so nobody has said that this key may go. */
function assertNoOtherKey(path: string, text: string | undefined): void {
  const there = readPrivate(path)
  if (there !== undefined && there !== text) throw storeNotEmpty(`the folder of \`${path}\``)
}

/** On disk first, then under its name. */
export function putInPlace(beside: string, path: string): void {
  const file = openSync(beside, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
}
