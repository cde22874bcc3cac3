/** What a service has stored, read beside it: in its folder's SQLite, or in PostgreSQL where services of tests are on that. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import pg from 'pg'
import { connectionOf } from '../../src/service/store/postgres-pool.ts'
import { databaseOf } from '../postgres.ts'

export type Row = Readonly<Record<string, unknown>>

/** Runs one statement, with `?` for its values, and gives its rows: of SQLite's types on either store. */
export async function rowsOf(dataDir: string, sql: string, ...values: readonly SQLInputValue[]): Promise<Row[]> {
  const shared = await databaseOf(dataDir)
  if (!shared) {
    const database = new DatabaseSync(join(dataDir, 'quorate.db'))
    try {
      return database.prepare(sql).all(...values)
    } finally {
      database.close()
    }
  }
  const client = new pg.Client(connectionOf(shared))
  await client.connect()
  try {
    let at = 0
    const { rows } = await client.query(
      sql.replaceAll('?', () => `$${++at}`),
      [...values],
    )
    return rows
  } finally {
    await client.end()
  }
}

/** Everything stored, as it stands there: the files of SQLite, or every value of every row of PostgreSQL. */
export async function storedBytes(dataDir: string): Promise<Buffer> {
  const files = readdirSync(dataDir).filter((name) => name.startsWith('quorate.db'))
  if (!(await databaseOf(dataDir))) return Buffer.concat(files.map((name) => readFileSync(join(dataDir, name))))
  const tables = await rowsOf(dataDir, "select tablename as name from pg_tables where schemaname = 'public'")
  const values: Buffer[] = []
  for (const { name } of tables)
    for (const row of await rowsOf(dataDir, `select * from "${name}"`))
      for (const value of Object.values(row))
        values.push(value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(`${value}\n`))
  return Buffer.concat(values)
}
