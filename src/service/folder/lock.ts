import { closeSync, lstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tightenPrivate } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import { DATABASE_FILE, OWNER_ONLY } from './files.ts'

/** The lock on a data folder; held until `release`, or until the process ends in whatever way. */
export interface FolderLock {
  /** Throws `service/data-folder-in-use` when the lock's file was taken away meanwhile, so that it locks nothing any more. */
  assertHeld(): void
  release(): void
}

const SQLITE_BUSY = 5

/** How long a second process waits for the first to write its pid before it says that it does not know the pid. */
const PID_TRIES = 20
const PID_PAUSE_MS = 50

/** How long somebody may read the database before it counts as served: a snapshot is being taken, or `doctor` looks. */
const READERS_MS = 10_000

/**
 * Takes the folder for this process alone. The lock is the operating system's, on `lock.db`, through SQLite's own
 * exclusive lock: it ends with the process, so a stale one cannot exist and none is ever stolen by time. `lock.pid`
 * only names the process that holds it. Where `lock.db` was removed under a service that runs, the database tells: a
 * service always has it open, and SQLite gives it to nobody else whole. Throws `service/data-folder-in-use` naming the
 * other process.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = join(folder, 'lock.db')
  // Not opened here when it is there: closing a file ends every lock of this process on it (POSIX).
  if (!tightenPrivate(path)) closeSync(openSync(path, 'a', OWNER_ONLY))
  const { ino } = lstatSync(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  const lock: FolderLock = {
    assertHeld() {
      if (lstatSync(path, { throwIfNoEntry: false })?.ino !== ino) throw inUse(folder, undefined)
    },
    release: () => database.close(),
  }
  try {
    database.exec('begin exclusive')
    lock.assertHeld()
    await assertNotServed(folder)
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw inUse(folder, await readOwner(folder))
  }
  const pidFile = join(folder, 'lock.pid')
  tightenPrivate(pidFile)
  writeFileSync(pidFile, `${process.pid}\n`, { mode: OWNER_ONLY })
  return lock
}

/** Throws SQLite's `BUSY` while another process has the database of this folder open. */
async function assertNotServed(folder: string): Promise<void> {
  const path = join(folder, DATABASE_FILE)
  if (!tightenPrivate(path)) return
  const deadline = performance.now() + READERS_MS
  for (;;) {
    try {
      return takeWhole(path)
    } catch (error) {
      const pid = readPid(folder)
      const isServed = pid !== undefined && isRunning(pid)
      if (isServed || performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, PID_PAUSE_MS))
    }
  }
}

/** Takes the database exclusively for a moment. What is wrong with it otherwise is said when it is opened for use. */
function takeWhole(path: string): void {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive; rollback')
  } catch (error) {
    if (isBusy(error)) throw error
  } finally {
    database.close()
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    (error.errcode & 0xff) === SQLITE_BUSY
  )
}

function inUse(folder: string, pid: number | undefined): ServiceError {
  const owner = pid === undefined ? 'another process' : `process ${pid}`
  return new ServiceError('service/data-folder-in-use', `the service’s folder \`${folder}\` is in use by ${owner}`, {
    facts: { folder, pid },
    next: 'stop that process, or name another folder',
  })
}

/**
 * The pid of the process that holds the lock. A pid that does not run is from before: the new owner is about to write
 * its own.
 */
async function readOwner(folder: string): Promise<number | undefined> {
  for (let attempt = 0; attempt < PID_TRIES; attempt++) {
    const pid = readPid(folder)
    if (pid !== undefined && isRunning(pid)) return pid
    await new Promise((resolve) => setTimeout(resolve, PID_PAUSE_MS))
  }
  return undefined
}

function readPid(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, 'lock.pid'), 'utf8'))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, but belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
