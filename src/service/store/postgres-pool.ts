import { PostgresAdapter, PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import type { Secret } from '../../telemetry/index.ts'
import { fromPostgresError } from './error.ts'

/** The settings of a PostgreSQL database. */
export interface PostgresSettings {
  /** `postgresql://user:password@host:5432/name?sslmode=verify-full`. */
  readonly url: Secret
  /** Connections for writes, and as many for reads. @default 10 */
  readonly connections?: number | undefined
  /** Milliseconds that one statement may take, the wait for others' locks among them. @default 10000 */
  readonly statementMs?: number | undefined
}

/** What was not said. */
export const POSTGRES_DEFAULTS = { connections: 10, statementMs: 10_000 } as const

/** How long a migration waits for those of other processes, and may take; a copy of all rows too. */
export const MIGRATION_MS = 10 * 60_000

/** How long a connection may take to be there, and a process may leave a transaction lying. */
const CONNECT_MS = 5_000
const IDLE_IN_TRANSACTION_MS = 15_000

/** Types by their numbers in `pg_type`: PostgreSQL's driver gives numbers of 64 bits as texts, and truth as no number. */
const { builtins } = pg.types
const WHOLE = new Set<number>([builtins.INT8, builtins.NUMERIC])

const types: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') => {
    if (WHOLE.has(id)) return readWhole
    if (id === builtins.BYTEA) return readBytes
    if (id === builtins.BOOL) return readBoolean
    return pg.types.getTypeParser(id, format as 'text')
  }) as typeof pg.types.getTypeParser,
}

function readWhole(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error('expected a whole number that JavaScript can hold')
  return value
}

/** A number, as SQLite has it: what `exists` gives is compared with 1. */
function readBoolean(text: string): number {
  return text === 't' ? 1 : 0
}

function readBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
}

/** The settings of every connection. Throws `StoreUnavailable` for a URL that is none. */
export function connectionOf({ url, statementMs = POSTGRES_DEFAULTS.statementMs }: PostgresSettings): pg.ClientConfig {
  return {
    connectionString: url.reveal(),
    types,
    application_name: 'quorate',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
  }
}

/** Connections of one database; errors of theirs come out as the store's own. */
export interface Pool {
  /** How many wait for a connection. */
  waiting(): number
  /** For Kysely. */
  readonly forKysely: PostgresPool
}

/** Opens no connection yet; each begins with the statement, if there is one. */
export function createPool(settings: PostgresSettings, beginsWith?: string): Pool {
  const pool = new pg.Pool({ ...connectionOf(settings), max: settings.connections ?? POSTGRES_DEFAULTS.connections })
  // What breaks while nobody uses it is thrown away and made anew; what breaks in use fails there.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // In line before whatever is asked of the connection; if it fails, so does that.
    if (beginsWith !== undefined) client.query(beginsWith).catch(() => {})
  })
  const known = new WeakMap<pg.PoolClient, Client>()
  const forKysely = {
    options: pool.options,
    async connect() {
      const client = await pool.connect().catch(rethrow)
      const there = known.get(client) ?? new Client(client)
      known.set(client, there)
      return there
    },
    end: () => pool.end(),
  }
  // Kysely asks for no more of a client than `query` and `release`.
  return { waiting: () => pool.waitingCount, forKysely: forKysely as unknown as PostgresPool }
}

/** One connection in use. A statement that was asked once is known to the server by a name, and parsed no more. */
class Client {
  readonly #client: pg.PoolClient
  readonly #names = new Map<string, string>()
  #given = 0

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  async query(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      if (values.length === 0) return await this.#client.query(text)
      return await this.#client.query({ name: this.#nameOf(text), text, values: values as unknown[] })
    } catch (error) {
      // Another version of the service has changed the tables meanwhile: what the server knows by name is to be parsed anew.
      if (error instanceof Error && 'code' in error && error.code === '0A000') this.#names.clear()
      return rethrow(error)
    }
  }

  release(error?: Error | boolean): void {
    this.#client.release(error)
  }

  #nameOf(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined) return name
    if (this.#names.size >= MOST_NAMED) return undefined
    const given = `q${++this.#given}`
    this.#names.set(text, given)
    return given
  }
}

/** Statements that each connection has a name for; the service's own are fewer. */
const MOST_NAMED = 512

function rethrow(error: unknown): never {
  throw fromPostgresError(error)
}

/** Kysely's dialect over a pool; its adapter says whether the rows of organizations are locked. */
export function createPostgresDialect(pool: Pool, isWriting: boolean): PostgresDialect {
  return new (class extends PostgresDialect {
    override createAdapter() {
      return isWriting ? new LockingAdapter() : new PostgresAdapter()
    }
  })({ pool: pool.forKysely })
}

/** Marks a transaction beside which others write, so that rows are locked before they are relied on. */
export class LockingAdapter extends PostgresAdapter {}

/** Opens one connection for work that needs it whole. Throws `StoreUnavailable`. */
export async function withClient<T>(
  settings: PostgresSettings,
  work: (client: pg.Client) => Promise<T>,
  options: { readonly statementMs?: number } = {},
): Promise<T> {
  const client = new pg.Client(connectionOf({ ...settings, ...options }))
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    throw fromPostgresError(error)
  } finally {
    await client.end().catch(() => {})
  }
}
