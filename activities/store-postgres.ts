/** A shared plan store in a table of PostgreSQL, by `pg`. Each request is one statement, which commits by itself. */
import type { Pool } from 'pg'
import { STORE_CONNECT_MS, STORE_MS } from './store-limits.ts'
import type { ObjectStore, StorePlace } from './store-model.ts'

const TABLE = 'quorate_plan_store'

/** Versions come from a sequence: none ever comes back. `"C"`: names are bytes, whatever the language of the database is. */
const MAKE = [
  'create sequence if not exists quorate_plan_store_versions',
  `create table if not exists ${TABLE} (
    name text collate "C" primary key,
    text text not null,
    version bigint not null default nextval('quorate_plan_store_versions'),
    written_at timestamptz not null default clock_timestamp()
  )`,
]

/** The lock of the process that makes the table; any number that nothing else uses. */
const LOCK = 7_281_540_113

const WRITE = "version = nextval('quorate_plan_store_versions'), written_at = clock_timestamp()"

/** Connections of one process: steps wait for each other rather than for the server. */
const MOST_CONNECTIONS = 4

/** Opens it, and makes its table if there is none. */
export async function openPostgresStore({ url }: StorePlace): Promise<ObjectStore> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url.reveal(),
    application_name: 'quorate plan store',
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: STORE_CONNECT_MS,
    // The server gives up first, so that what it gave up is known not to be done; the client where the server is gone.
    statement_timeout: STORE_MS - 1000,
    query_timeout: STORE_MS,
    idleTimeoutMillis: 5_000,
    // A command ends when its work has.
    allowExitOnIdle: true,
    keepAlive: true,
    // What was answered as written outlives the server's machine, whatever its settings are. The pool waits for it.
    onConnect: async (client) => {
      await client.query('set synchronous_commit = on')
    },
  })
  // What breaks while nobody uses it is thrown away and made anew; what breaks in use fails there.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  await makeTable(pool)
  const run = (text: string, ...values: string[]) => pool.query<Record<string, string>>(text, values)
  return {
    async read(name) {
      const { rows } = await run(`select text, version from ${TABLE} where name = $1`, name)
      return rows[0] && { text: rows[0]['text']!, version: rows[0]['version']! }
    },
    async versionOf(name) {
      return (await run(`select version from ${TABLE} where name = $1`, name)).rows[0]?.['version']
    },
    async putIfAbsent(name, text) {
      const insert = `insert into ${TABLE} (name, text) values ($1, $2) on conflict (name) do nothing`
      return (await run(insert, name, text)).rowCount === 1
    },
    async replace(name, text, version) {
      const update = `update ${TABLE} set text = $2, ${WRITE} where name = $1 and version = $3`
      return (await run(update, name, text, version)).rowCount === 1
    },
    async put(name, text) {
      await run(
        `insert into ${TABLE} (name, text) values ($1, $2) on conflict (name) do update set text = $2, ${WRITE}`,
        name,
        text,
      )
    },
    async remove(name) {
      await run(`delete from ${TABLE} where name = $1`, name)
    },
    async list(shelf) {
      // `0` follows `/`: the names on one shelf stand together in the index.
      const { rows } = await run(
        `select name, extract(epoch from written_at) * 1000 as at from ${TABLE} where name > $1 and name < $2`,
        `${shelf}/`,
        `${shelf}0`,
      )
      return rows.map(({ name, at }) => ({ name: name!.slice(shelf.length + 1), writtenAtMs: Number(at) }))
    },
    async listAll() {
      return (await run(`select name from ${TABLE}`)).rows.map(({ name }) => name!)
    },
    // A statement of PostgreSQL does what it says.
    assertConditions: async () => {},
    close: () => pool.end(),
  }
}

/** A role that may not make tables can use one that is there. Processes that begin at once make it one after another. */
async function makeTable(pool: Pool): Promise<void> {
  const isThere = await pool.query<{ there: string | null }>(`select to_regclass('${TABLE}')::text as there`)
  if (isThere.rows[0]?.there) return
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(${LOCK})`)
    for (const statement of MAKE) await client.query(statement)
    await client.query('commit')
    client.release()
  } catch (error) {
    // With its transaction.
    client.release(true)
    throw error
  }
}
