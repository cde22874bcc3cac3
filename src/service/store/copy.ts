/**
 * Copies a whole database from SQLite to PostgreSQL or back: row by row, table after table, in one transaction of the target
 * database. It commits only when the digest of all rows that were read equals the digest of all rows in the target.
 *
 * Left out are the marks of migrations, since both databases have the newest schema, and what belongs to processes: leases, and who holds keys.
 */
import { createHash } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { ClientBase } from 'pg'
import { encodeHex } from '../../encoding/index.ts'
import { copyFailed, schemaDiffers, storeNotEmpty } from './error.ts'
import { assertNewest, migrate } from './migrations.ts'
import { START_LOCK } from './postgres.ts'
import { MIGRATION_MS, type PostgresSettings, withClient } from './postgres-pool.ts'
import { inOrderOfReference, migratePostgres, planPostgres } from './postgres-schema.ts'

/** What was copied. */
export interface Copied {
  readonly tables: number
  readonly rows: number
  /** SHA-256, hex: the same for equal rows, in SQLite and in PostgreSQL. */
  readonly digest: string
}

const LEFT_OUT: ReadonlySet<string> = new Set(['migrations', 'leases', 'key_holders', 'sqlite_sequence'])

/** Rows that are read, and written, at a time. */
const AT_ONCE = 200

type Value = string | number | null | Uint8Array
type Row = Readonly<Record<string, Value>>

interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns by which rows are read, in both databases in the same order. */
  readonly order: readonly string[]
  /** A column that counts by itself. */
  readonly counter?: string
}

/** The rows of a table, some at a time. */
type Read = (table: Table) => AsyncIterable<readonly Row[]>

/**
 * Copies a file of SQLite, which nobody may write meanwhile, into a database of PostgreSQL that holds no organization. Throws
 * `service/store-not-empty`, `service/schema-differs`, `service/copy-failed`, `StoreUnavailable`.
 * @param beforeCommit runs before the transaction commits; where it throws, no row is copied
 */
export async function copyToPostgres(
  file: string,
  settings: PostgresSettings,
  { now, beforeCommit = () => {} }: { readonly now: number; readonly beforeCommit?: () => void },
): Promise<Copied> {
  const source = new DatabaseSync(file, { readOnly: true })
  try {
    assertNewest(source)
    const tables = tablesOf(source)
    return await withWholeClient(settings, async (client) => {
      await migratePostgres(client, now)
      return inTransaction(client, 'begin', async () => {
        // No process begins an installation there meanwhile.
        await client.query('select pg_advisory_xact_lock($1)', [START_LOCK])
        const { rows } = await client.query('select 1 from organizations limit 1')
        if (rows.length > 0) throw storeNotEmpty('the database of DATABASE_URL')
        const read = await copy(tables, readSqlite(source), (table, some) => insertPostgres(client, table, some))
        for (const table of tables) await countOn(client, table)
        const same = assertSame(read, await digestOf(tables, readPostgres(client)))
        beforeCommit()
        return same
      })
    })
  } finally {
    source.close()
  }
}

/**
 * Copies a database of PostgreSQL, as it is at one moment, into a file of SQLite that is empty. Throws `service/schema-differs`,
 * `service/copy-failed`, `StoreUnavailable`.
 */
export async function copyFromPostgres(settings: PostgresSettings, file: string, now: number): Promise<Copied> {
  const target = new DatabaseSync(file)
  try {
    migrate(target, now)
    const tables = tablesOf(target)
    // Rows stand in the order in which they refer to each other; the check below covers the rest.
    target.exec('pragma foreign_keys = off; begin immediate')
    const copied = await withWholeClient(settings, async (client) => {
      const lacks = await planPostgres(client)
      if (lacks.length > 0) throw schemaDiffers('older', lacks[0]!.name)
      const view = 'begin isolation level repeatable read read only'
      return inTransaction(client, view, () =>
        copy(tables, readPostgres(client), async (table, some) => insertSqlite(target, table, some)),
      )
    })
    const same = assertSame(copied, await digestOf(tables, readSqlite(target)))
    if (target.prepare('pragma foreign_key_check').get()) throw copyFailed('a row refers to nothing')
    target.exec('commit')
    return same
  } finally {
    target.close()
  }
}

function tablesOf(database: DatabaseSync): readonly Table[] {
  const found = database
    .prepare("select name, sql from sqlite_schema where type = 'table'")
    .all()
    .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }))
    .filter(({ name }) => !LEFT_OUT.has(name))
  return inOrderOfReference(found).map(({ name, sql }) => {
    const columns = database.prepare('select name, pk from pragma_table_info(?) order by cid').all(name)
    const key = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a['pk']) - Number(b['pk']))
    const names = columns.map((column) => String(column['name']))
    const [, counter] = /(\w+) integer primary key/i.exec(sql) ?? []
    return {
      name,
      columns: names,
      // By position a parent comes before what is below it.
      order: [...(names.includes('position') ? ['position'] : []), ...key.map((column) => String(column['name']))],
      ...(counter === undefined ? {} : { counter }),
    }
  })
}

function selectOf({ name, columns, order }: Table): string {
  return `select ${quoted(columns)} from "${name}" order by ${quoted(order)}`
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

function readSqlite(database: DatabaseSync): Read {
  return async function* (table) {
    let some: Row[] = []
    for (const row of database.prepare(selectOf(table)).iterate()) {
      some.push(row as Row)
      if (some.length < AT_ONCE) continue
      yield some
      some = []
    }
    yield some
  }
}

function readPostgres(client: ClientBase): Read {
  return async function* (table) {
    await client.query(`declare copied no scroll cursor for ${selectOf(table)}`)
    try {
      for (;;) {
        const { rows } = await client.query(`fetch ${AT_ONCE} from copied`)
        yield rows as readonly Row[]
        if (rows.length < AT_ONCE) break
      }
    } finally {
      await client.query('close copied').catch(() => {})
    }
  }
}

function insertSqlite(database: DatabaseSync, { name, columns }: Table, rows: readonly Row[]): void {
  const values = columns.map(() => '?').join(', ')
  const insert = database.prepare(`insert into "${name}" (${quoted(columns)}) values (${values})`)
  for (const row of rows) insert.run(...columns.map((column) => row[column] as SQLInputValue))
}

async function insertPostgres(client: ClientBase, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map(
    (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`,
  )
  const parameters = rows.flatMap((row) => columns.map((column) => toParameter(name, row[column]!)))
  await client.query(`insert into "${name}" (${quoted(columns)}) values ${values.join(', ')}`, parameters)
}

/** PostgreSQL has no text with a NUL in it. */
function toParameter(table: string, value: Value): unknown {
  if (typeof value === 'string' && value.includes('\0')) {
    throw copyFailed(`a text in \`${table}\` has the character U+0000, which PostgreSQL cannot keep`)
  }
  return value instanceof Uint8Array ? Buffer.from(value) : value
}

/** Sets the sequence of a counting column to go on after the copied rows. */
async function countOn(client: ClientBase, { name, counter }: Table): Promise<void> {
  if (counter === undefined) return
  const { rows } = await client.query(`select max("${counter}") as last from "${name}"`)
  if (rows[0].last === null) return
  await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [name, counter, rows[0].last])
}

async function copy(
  tables: readonly Table[],
  read: Read,
  insert: (table: Table, rows: readonly Row[]) => Promise<void>,
): Promise<Copied> {
  return digestOf(tables, async function* (table) {
    for await (const some of read(table)) {
      await insert(table, some)
      yield some
    }
  })
}

async function digestOf(tables: readonly Table[], read: Read): Promise<Copied> {
  const hash = createHash('sha256')
  let rows = 0
  for (const table of tables) {
    hash.update(`${table.name}\n`)
    for await (const some of read(table)) {
      rows += some.length
      for (const row of some) hash.update(`${JSON.stringify(table.columns.map((column) => plain(row[column]!)))}\n`)
    }
  }
  return { tables: tables.length, rows, digest: hash.digest('hex') }
}

/** A value for the digest; bytes are wrapped, so that no text has the same form. */
function plain(value: Value): unknown {
  return value instanceof Uint8Array ? [encodeHex(value)] : value
}

function assertSame(read: Copied, written: Copied): Copied {
  if (read.digest === written.digest) return written
  throw copyFailed(`${read.rows} rows were read, and the ${written.rows} that were written are others`)
}

function withWholeClient<T>(settings: PostgresSettings, work: (client: ClientBase) => Promise<T>): Promise<T> {
  return withClient(settings, work, { statementMs: MIGRATION_MS })
}

async function inTransaction<T>(client: ClientBase, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(begin)
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
