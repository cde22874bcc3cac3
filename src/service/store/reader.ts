import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { createSqliteDialect } from './dialect.ts'
import { fromSqliteError } from './error.ts'
import { readingOf } from './peek.ts'
import { createPool, createPostgresDialect, type PostgresSettings } from './postgres-pool.ts'
import type { Rows } from './prepared.ts'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/**
 * Reads the database that another process serves. It is opened for each reading: a service that starts must find nobody in
 * its database, however long the reader has been running. Throws `StoreUnavailable`.
 */
export function createReader(file: string): Database['read'] {
  return async (work) => {
    const database = new Kysely<Schema>({ dialect: createSqliteDialect(open(file), 'begin') })
    try {
      return await database.transaction().execute(async (tx) => work(tx))
    } finally {
      await database.destroy()
    }
  }
}

/**
 * Writes a little into the database that another process serves, without waiting for the disk. Where none does, nothing is written
 * and nothing made: `undefined`. Throws `StoreUnavailable`.
 */
export function createWriterBeside(file: string): <T>(work: (tx: Transaction) => Rows<T>) => Promise<T | undefined> {
  return async (work) => {
    // A service that is up has a log beside its database.
    if (!existsSync(`${file}-wal`)) return undefined
    const url = pathToFileURL(file)
    url.searchParams.set('mode', 'rw')
    for (let attempt = 1; ; attempt++) {
      const database = new Kysely<Schema>({ dialect: createSqliteDialect(openBeside(url), 'begin immediate') })
      try {
        return await database.transaction().execute(async (tx) => work(tx))
      } catch (error) {
        if (attempt === WRITE_TRIES) throw error
        await delay(WRITE_PAUSE_MS)
      } finally {
        await database.destroy()
      }
    }
  }
}

/** How often a write is tried while the service writes: no event loop waits for another process’s disk. */
const WRITE_TRIES = 50
const WRITE_PAUSE_MS = 10

function openBeside(url: URL): DatabaseSync {
  try {
    const database = new DatabaseSync(url, { timeout: 0 })
    // The service brings its log to the disk and into its database, not a writer of a row.
    database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
    return database
  } catch (error) {
    throw fromSqliteError(error)
  }
}

/** A database of PostgreSQL that other processes serve, to read and to say what this one holds; close it in the end. */
export function createPostgresReader(settings: PostgresSettings): Pick<Database, 'read' | 'close'> & {
  write<T>(work: (tx: Transaction) => Rows<T>): Promise<T>
} {
  const database = new Kysely<Schema>({ dialect: createPostgresDialect(createPool(settings), false) })
  return {
    read: (work) =>
      database
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => work(tx)),
    write: (work) => database.transaction().execute(async (tx) => work(tx)),
    close: () => database.destroy(),
  }
}

function open(file: string): DatabaseSync {
  try {
    return new DatabaseSync(readingOf(file), { readOnly: true, timeout: 2000 })
  } catch (error) {
    throw fromSqliteError(error)
  }
}
