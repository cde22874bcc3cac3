import { close, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { StoreUnavailable } from './error.ts'

/**
 * Brings commits to disk, beside the main thread, which goes on with other requests meanwhile.
 *
 * SQLite itself syncs its write-ahead log on `synchronous=full` inside COMMIT; on `normal` it leaves that out, and out of
 * nothing else that durability leans on: a new log's header, and a checkpoint's order of log before database, are still
 * synced (sqlite.org/pragma.html#pragma_synchronous, sqlite.org/wal.html). What is left out is done here, for all that
 * was committed since the last time in one go.
 *
 * INVARIANT: a commit is seen before it is on disk, so nobody is told anything that was read or written until `settled`.
 * After a sync that failed nothing is known of what is on disk, and asking again would not tell (the kernel reports it
 * once): then nothing is ever settled again, and the service has to be started anew.
 */
export interface Journal {
  /** Says that something has been committed; it will be on disk once `settled` is. */
  committed(): void
  /** Waits until all that is committed by now is on disk. Throws `StoreUnavailable`. */
  settled(): Promise<void>
  /** Why nothing will ever be settled again. */
  readonly failure: StoreUnavailable | undefined
  /** Waits, then lets go of the file. */
  close(): Promise<void>
}

interface Waiting {
  readonly upTo: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Brings what was written to an open file to disk. */
export type SyncFile = (file: number) => Promise<void>

/** Opens the journal of a database that has its write-ahead log; without a path there is nothing to bring to disk. */
export function openJournal(path: string | undefined, sync: SyncFile = promisify(fdatasync)): Journal {
  const file = path === undefined ? undefined : openSync(`${path}-wal`, 'r+')
  let commits = 0
  let synced = 0
  let waiting: Waiting[] = []
  let running = false
  let failure: StoreUnavailable | undefined

  async function run(): Promise<void> {
    running = true
    try {
      while (waiting.length > 0 && file !== undefined) {
        const upTo = commits
        await sync(file)
        synced = upTo
        const done = waiting.filter((one) => one.upTo <= upTo)
        waiting = waiting.filter((one) => one.upTo > upTo)
        for (const { resolve } of done) resolve()
      }
    } catch (cause) {
      failure = new StoreUnavailable('the disk failed', cause)
      for (const { reject } of waiting.splice(0)) reject(failure)
    }
    running = false
  }

  const settled = (): Promise<void> => {
    if (failure) return Promise.reject(failure)
    if (file === undefined || synced === commits) return Promise.resolve()
    return new Promise((resolve, reject) => {
      waiting.push({ upTo: commits, resolve, reject })
      if (!running) void run()
    })
  }
  return {
    committed: () => {
      commits++
    },
    settled,
    get failure() {
      return failure
    },
    async close() {
      await settled().catch(() => undefined)
      if (file !== undefined) await promisify(close)(file)
    },
  }
}
