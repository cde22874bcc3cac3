import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from './error.ts'

/** The lock on a data folder; held until `release`, or until the process ends in whatever way. */
export interface FolderLock {
  release(): void
}

const SQLITE_BUSY = 5

/** How long a second process waits for the first to write its pid before it says that it does not know the pid. */
const PID_TRIES = 20
const PID_PAUSE_MS = 50

/**
 * Takes the folder for this process alone. The lock is the operating system's, on `lock.db`, through SQLite's own
 * exclusive lock: it ends with the process, so a stale one cannot exist and none is ever stolen by time. `lock.pid`
 * only says whom to ask. Throws `service/data-folder-in-use` naming the other process.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const database = new DatabaseSync(join(folder, 'lock.db'), { timeout: 0 })
  try {
    database.exec('begin exclusive')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw await inUse(folder)
  }
  writeFileSync(join(folder, 'lock.pid'), `${process.pid}\n`, { mode: 0o600 })
  return { release: () => database.close() }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

async function inUse(folder: string): Promise<ServiceError> {
  const pid = await readOwner(folder)
  const owner = pid === undefined ? 'another process' : `process ${pid}`
  return new ServiceError('service/data-folder-in-use', `the data folder \`${folder}\` is in use by ${owner}`, {
    facts: { folder, pid },
    next: 'stop that process, or name another data folder',
  })
}

/** The pid of whoever holds the lock. A pid that does not run is from before: the new owner is about to write its own. */
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
