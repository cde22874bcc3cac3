import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { createSqliteDialect } from './dialect.ts'
import { fromSqliteError } from './error.ts'
import { readingOf } from './peek.ts'
import { createPool, createPostgresDialect, type PostgresSettings } from './postgres-pool.ts'
import type { Schema } from './schema.ts'

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

/** Reads a database of PostgreSQL that other processes serve; close it once nothing reads any more. */
export function createPostgresReader(settings: PostgresSettings): {
  readonly read: Database['read']
  close(): Promise<void>
} {
  const database = new Kysely<Schema>({ dialect: createPostgresDialect(createPool(settings), false) })
  return {
    read: (work) =>
      database
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => work(tx)),
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
