import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assertPlain, copyPrivate, ensurePrivateFolder, readPrivate, writePrivate } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import {
  type DatabaseFacts,
  type GivenUpWebhooks,
  packDatabase,
  readDatabaseFacts,
  readGivenUpWebhooks,
  readSnapshotFile,
  unpackDatabase,
} from '../store/index.ts'
import { BOOTSTRAP_FILE } from './bootstrap.ts'
import { endFirstStart } from './data-folder.ts'
import { DATABASE_FILE, MASTER_KEY_FILE, OPERATOR_FILE, OWNER_ONLY } from './files.ts'
import { lockFolder } from './lock.ts'

/**
 * The files of a snapshot besides the database. The master key is among them, or nothing sealed could be opened: a
 * reader of a snapshot has the wallets.
 */
const FILES = [MASTER_KEY_FILE, BOOTSTRAP_FILE, OPERATOR_FILE] as const

/**
 * Writes a data folder into a file that its owner alone may read, whether its service runs or not; what was
 * acknowledged before the call is in it. Throws `service/nothing-served`, `service/snapshot-exists`.
 */
export async function saveSnapshot(dataDir: string, file: string): Promise<DatabaseFacts> {
  const source = join(dataDir, DATABASE_FILE)
  if (!existsSync(source)) {
    throw new ServiceError('service/nothing-served', `no service keeps its data in \`${dataDir}\``, {
      facts: { folder: dataDir },
      next: 'name its folder with --folder',
    })
  }
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
    const facts = await packDatabase(source, beside, texts)
    putInPlace(beside, file)
    return facts
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
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
 * before anything is touched. Throws `service/data-folder-in-use`, `service/snapshot-invalid`.
 */
export async function restoreSnapshot(dataDir: string, file: string): Promise<DatabaseFacts> {
  readSnapshot(file)
  ensurePrivateFolder(dataDir)
  const lock = await lockFolder(dataDir)
  const path = join(dataDir, DATABASE_FILE)
  const beside = `${path}.new`
  try {
    rmSync(beside, { force: true })
    // What is put in place is what was looked at: the file itself may be another by now.
    const facts = (copyPrivate(file, beside) ? readSnapshotFile(beside) : undefined) ?? refuseSnapshot(file)
    const texts = unpackDatabase(beside)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    for (const name of FILES) {
      const text = texts.get(name)
      if (text === undefined) rmSync(join(dataDir, name), { force: true })
      else writePrivate(join(dataDir, name), text)
    }
    putInPlace(beside, path)
    endFirstStart(dataDir)
    return facts
  } finally {
    rmSync(beside, { force: true })
    lock.release()
  }
}

/** On disk first, then under its name. */
function putInPlace(beside: string, path: string): void {
  const file = openSync(beside, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
}
