import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { fromSqliteError, StoreUnavailable } from './error.ts'
import { ConnectionMemory } from './memory.ts'
import { Parts, type SavepointStatement } from './parts.ts'

/** Statements kept prepared for each connection; the service's queries are far fewer than this. */
const MAX_PREPARED = 512

/**
 * For how long a transaction keeps the main thread, in milliseconds: then others have a turn before its next statement. Nobody else
 * writes meanwhile, nor sees what it wrote. What `run` does at once, which is short, counts with it.
 */
const LONGEST_TURN_MS = 10

/** Statement kinds that return no rows unless they say `returning`. */
const WRITES = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode'])

/**
 * A Kysely dialect over one connection of `node:sqlite`. Kysely itself hands the connection to one transaction at a
 * time, so a query on the outer handle inside a transaction would wait for ever: always pass the transaction on.
 */
export function createSqliteDialect(database: DatabaseSync, begin: 'begin' | 'begin immediate'): Dialect {
  const connection = new SqliteConnection(database)
  return {
    createAdapter: () => new DirectAdapter(connection),
    createDriver: () => new SqliteDriver(database, connection, begin),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Leads from a transaction to its connection, for what need not go through Kysely. */
export class DirectAdapter extends SqliteAdapter {
  readonly connection: Pick<SqliteConnection, 'run' | 'parts'>

  constructor(connection: SqliteConnection) {
    super()
    this.connection = connection
  }
}

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync
  readonly #connection: SqliteConnection
  readonly #begin: string

  constructor(database: DatabaseSync, connection: SqliteConnection, begin: string) {
    this.#database = database
    this.#connection = connection
    this.#begin = begin
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    this.#connection.fault = undefined
    await connection.executeQuery(CompiledQuery.raw(this.#begin))
    this.#connection.isOpen = true
    this.#connection.turnBegan = performance.now()
    this.#connection.memory.begun()
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
    this.#connection.isOpen = false
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#connection.isOpen = false
    this.#connection.parts.reset()
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'))
    } catch (error) {
      // A full disk makes SQLite roll back by itself; then there is nothing left to undo, and the first error counts.
      if (!this.#connection.fault) throw error
    }
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#database.close()
  }
}

const NO_VALUES: readonly unknown[] = []

const SAVEPOINTS: Readonly<Record<SavepointStatement, CompiledQuery>> = {
  set: CompiledQuery.raw('savepoint part'),
  release: CompiledQuery.raw('release savepoint part'),
  undo: CompiledQuery.raw('rollback to savepoint part'),
}

/** A prepared statement, whose rows are ordinary objects. */
class Statement {
  readonly #statement: StatementSync
  readonly #names: readonly string[] | undefined

  constructor(statement: StatementSync) {
    this.#statement = statement
    // What node:sqlite makes of a row by itself takes twice as long to make and to read; before Node.js 22.16 there is nothing else.
    if (!('setReturnArrays' in statement)) return
    statement.setReturnArrays(true)
    this.#names = statement.columns().map(({ name }) => name)
  }

  run(parameters: readonly SQLInputValue[]) {
    return this.#statement.run(...parameters)
  }

  all(parameters: readonly SQLInputValue[]): unknown[] {
    const rows: unknown[] = this.#statement.all(...parameters)
    if (this.#names) for (let at = 0; at < rows.length; at++) rows[at] = rowOf(this.#names, rows[at] as unknown[])
    return rows
  }
}

function rowOf(names: readonly string[], values: readonly unknown[]): object {
  const row: Record<string, unknown> = {}
  for (let at = 0; at < names.length; at++) row[names[at]!] = values[at]
  return row
}

class SqliteConnection implements DatabaseConnection {
  /**
   * The machine's fault that this transaction met. INVARIANT: after it no statement runs and nothing is committed, even
   * if somebody swallowed the error: SQLite may have rolled back already, and each statement would commit by itself.
   */
  fault: StoreUnavailable | undefined
  /** Whether a transaction is open: nothing is run directly outside of one, where it would commit by itself. */
  isOpen = false
  /** Since when its transaction has the main thread, by `performance.now()`. */
  turnBegan = 0
  readonly memory: ConnectionMemory
  readonly parts = new Parts((statement) => void this.run(SAVEPOINTS[statement], NO_VALUES, false))
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, Statement>()

  constructor(database: DatabaseSync) {
    this.#database = database
    this.memory = new ConnectionMemory(database)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.isOpen && performance.now() - this.turnBegan > LONGEST_TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve))
      this.turnBegan = performance.now()
    }
    if (this.fault && query.sql !== 'rollback') throw this.fault
    try {
      if (this.memory.running(query)) this.parts.writing()
      const statement = this.#prepare(query.sql)
      const parameters = query.parameters as readonly SQLInputValue[]
      if (WRITES.has(query.query.kind) && !('returning' in query.query && query.query.returning)) {
        const { changes, lastInsertRowid } = statement.run(parameters)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      }
      return { rows: statement.all(parameters) as R[] }
    } catch (error) {
      throw this.#noted(error)
    }
  }

  /**
   * Runs a statement of the open transaction at once, without Kysely's own steps; gives its rows. Those of a read that is
   * remembered are not to be changed.
   */
  run(query: CompiledQuery, parameters: readonly unknown[], isRemembered: boolean): readonly unknown[] {
    if (!this.isOpen) throw new Error(`expected an open transaction for \`${query.sql}\``)
    if (this.fault) throw this.fault
    try {
      if (isRemembered) return this.memory.recall(query, parameters, this.#read)
      if (this.memory.running(query)) this.parts.writing()
      return this.#read(query, parameters)
    } catch (error) {
      throw this.#noted(error)
    }
  }

  // biome-ignore lint/correctness/useYield: node:sqlite reads at once; nothing in the service streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported')
  }

  readonly #read = ({ sql }: CompiledQuery, parameters: readonly unknown[]) =>
    this.#prepare(sql).all(parameters as readonly SQLInputValue[])

  #noted(error: unknown): unknown {
    const known = fromSqliteError(error)
    if (known instanceof StoreUnavailable) this.fault = known
    return known
  }

  #prepare(sql: string): Statement {
    const known = this.#prepared.get(sql)
    if (known) return known
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.delete(this.#prepared.keys().next().value!)
    const statement = new Statement(this.#database.prepare(sql))
    this.#prepared.set(sql, statement)
    return statement
  }
}
