import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { createSqliteDialect } from './dialect.ts'
import { fromSqliteError, StoreUnavailable } from './error.ts'
import { migrate } from './migrations.ts'
import type { Rows } from './prepared.ts'
import { gather, type WaitingWrite, waitFor } from './rounds.ts'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/**
 * The database of a service: one file of SQLite (here), or PostgreSQL (`postgres.ts`), which several processes may share.
 *
 * Writes are grouped, because one fsync costs more than all the statements of a request. Whatever is waiting forms a
 * round: BEGIN IMMEDIATE, one savepoint for each piece of work, COMMIT, which returns once it is on disk. INVARIANT: nobody
 * in a round is answered before that, not even those who were refused, since their refusal may rest on what another wrote.
 * A fault of the machine undoes the whole round; a fault of one request undoes that request alone.
 */
export interface Database {
  /** Whether other processes may serve it at the same time. */
  readonly isShared: boolean
  /**
   * Runs `work` in a write transaction and returns once it is durable. In SQLite work runs alone, in order of arrival. Where
   * the database is shared, it runs beside other work and locks what it relies on (`lockOrganization`); it may run more than
   * once, and what it did before leaves no trace.
   * @param organizationId whose row the work locks first, where that is known: its work does not keep others waiting
   */
  write<T>(work: (tx: Transaction) => Rows<T>, organizationId?: string): Promise<T>
  /** Runs `work` on one consistent, read-only view of what has been committed. */
  read<T>(work: (tx: Transaction) => Rows<T>): Promise<T>
  /** Runs what one process alone may do at a time, such as its start. The work asks the store as usual. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** The last round that ended, by `performance.now()`: a fault of the machine undoes the whole of one. */
  lastRound(): { readonly at: number; readonly failed: boolean } | undefined
  /** Writes that wait for a round. */
  waiting(): number
  /** Lets the waiting work finish, then closes. */
  close(): Promise<void>
}

/** A round that ended. */
export interface Round {
  readonly writes: number
  readonly ms: number
  readonly failed: boolean
}

/** A checkpoint stops everything for some syncs: one in 16 MB of log instead of SQLite's one in 4. */
const CHECKPOINT_PAGES = 4_000

/**
 * Fingerprints have no order: each submit reads and writes another page of their index, which has some hundred MB where there are a
 * million activities. What of it is read again and again, a thirtieth, stays in memory. Not more: where a page of that index is
 * split, SQLite looks through all that it has in memory at the next commit, which took a fifth of the time of a submit's statements.
 */
const CACHE_KIB = 8_192

/** Keeps a round short enough that its first request does not wait for hundreds of others. */
const MAX_ROUND = 128

/** Opens (or makes) the database file and brings it to the newest schema. Throws `StoreUnavailable`. */
export function openDatabase(
  path: string,
  options: { readonly now: number; readonly onRound?: ((round: Round) => void) | undefined },
): Database {
  const writable = open(path, false)
  try {
    // Only FULL makes a commit survive power loss (sqlite.org/pragma.html#pragma_synchronous).
    // What undoes a part of a transaction need not outlive the process: in memory, no statement opens a file for it.
    writable.exec(
      `pragma synchronous = full; pragma journal_mode = wal; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
      pragma temp_store = memory; pragma cache_size = -${CACHE_KIB}`,
    )
    migrate(writable, options.now)
  } catch (error) {
    writable.close()
    throw fromSqliteError(error)
  }
  const readable = open(path, true)
  const writer = new Kysely<Schema>({ dialect: createSqliteDialect(writable, 'begin immediate') })
  const reader = new Kysely<Schema>({ dialect: createSqliteDialect(readable, 'begin') })
  let waiting: WaitingWrite[] = []
  let rounds: Promise<void> | undefined
  let closed = false
  let last: ReturnType<Database['lastRound']>

  async function runRounds(): Promise<void> {
    while (waiting.length > 0) {
      await gather(() => waiting.length, MAX_ROUND)
      const round = waiting.slice(0, MAX_ROUND)
      waiting = waiting.slice(MAX_ROUND)
      const begun = performance.now()
      const answers = await runRound(writer, round)
      last = { at: performance.now(), failed: answers === undefined }
      options.onRound?.({ writes: round.length, ms: last.at - begun, failed: last.failed })
      for (const answer of answers ?? []) answer()
    }
    rounds = undefined
  }

  return {
    isShared: false,
    write<T>(work: (tx: Transaction) => Rows<T>): Promise<T> {
      if (closed) return Promise.reject(new StoreUnavailable('it is closing'))
      const { item, done } = waitFor(work)
      waiting.push(item)
      rounds ??= runRounds()
      return done
    },
    async read<T>(work: (tx: Transaction) => Rows<T>): Promise<T> {
      if (closed) throw new StoreUnavailable('it is closing')
      return reader.transaction().execute(async (tx) => work(tx))
    },
    alone: (work) => work(),
    lastRound: () => last,
    waiting: () => waiting.length,
    async close(): Promise<void> {
      closed = true
      await rounds
      await reader.destroy()
      await writer.destroy()
      // Kysely leaves one open that nobody has used: the next process to take the folder would find it in use.
      for (const connection of [readable, writable]) if (connection.isOpen) connection.close()
    },
  }
}

function open(path: string, readOnly: boolean): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { readOnly, enableForeignKeyConstraints: true, timeout: 2000 })
    return database
  } catch (error) {
    throw fromSqliteError(error)
  }
}

/** Gives what answers each; nothing when the round has failed, of which everybody has been told. */
async function runRound(
  writer: Kysely<Schema>,
  round: readonly WaitingWrite[],
): Promise<readonly (() => void)[] | undefined> {
  try {
    return await writer.transaction().execute(async (tx) => {
      const settled: (() => void)[] = []
      for (const item of round) settled.push(await item.run(tx))
      return settled
    })
  } catch (error) {
    for (const item of round) item.fail(error)
    return undefined
  }
}
