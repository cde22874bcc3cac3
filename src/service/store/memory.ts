/**
 * Answers of reads that nearly every request repeats: who has a key, who the quorum is, which addresses may ask.
 *
 * Premise: an answer stays true until somebody writes to a table that its query names. What this connection writes it
 * sees; that another one has written, SQLite tells (sqlite.org/pragma.html#pragma_data_version), and is asked as each
 * transaction begins. INVARIANT: a statement of which it is not plain what it writes counts as one that writes
 * everything: a deletion, which may go on to other tables; whatever undoes; and what is no query of Kysely's. There are no
 * triggers, so that a statement writes to no other table than it names.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { CompiledQuery, RootOperationNode } from 'kysely'

/** Rows of an answer that is kept, and rows that are kept before all are forgotten, at most: some MB. */
const MOST_ROWS = { answer: 32, connection: 20_000 }

/** Statements that begin or end a transaction or a savepoint, and undo nothing. */
const NO_WRITES = new Set(['begin', 'begin immediate', 'commit', 'savepoint part', 'release savepoint part'])

type Rows = readonly unknown[]
type Read = (query: CompiledQuery, parameters: readonly unknown[]) => Rows

/** The table that a statement writes to, or `every`, or `none`; and the tables that a query names. */
const written = new WeakMap<object, string>()
const named = new WeakMap<CompiledQuery, ReadonlySet<string>>()

/** What of a statement says what it writes: a query of Kysely's, which may not be text yet. */
type Written = Pick<CompiledQuery, 'query'> & Partial<Pick<CompiledQuery, 'sql'>>

/** The answers that one connection remembers, or one transaction (`locked-memory.ts`). */
export class Memory {
  readonly #answers = new Map<CompiledQuery, Answers>()
  readonly #byTable = new Map<string, Answers[]>()
  /** Rows, and one for each answer, since all were forgotten. */
  #kept = 0
  #writes = 0

  /** A statement is about to run. Says whether it writes something. */
  running(query: Written): boolean {
    const table = tableWritten(query)
    if (table === 'none') return false
    this.#writes++
    if (table === 'every') this.forgetAll()
    else for (const answers of this.#byTable.get(table) ?? []) answers.clear()
    return true
  }

  /** Gives the rows as they were read last, or reads them. Nobody may change them. */
  recall(query: CompiledQuery, parameters: readonly unknown[], read: Read): Rows {
    const answers = this.#answers.get(query) ?? this.#begin(query)
    const known = answers.recall(parameters)
    if (known) return known
    return this.#keep(answers, parameters, read(query, parameters))
  }

  /** As `recall`, from a database in another process. What was written while the answer was on its way is not in it. */
  recallLater(query: CompiledQuery, parameters: readonly unknown[], read: () => Promise<Rows>): Rows | Promise<Rows> {
    const answers = this.#answers.get(query) ?? this.#begin(query)
    const known = answers.recall(parameters)
    if (known) return known
    const before = this.#writes
    return read().then((rows) => (this.#writes === before ? this.#keep(answers, parameters, rows) : rows))
  }

  forgetAll(): void {
    for (const answers of this.#answers.values()) answers.clear()
    this.#kept = 0
  }

  #keep(answers: Answers, parameters: readonly unknown[], rows: Rows): Rows {
    if (rows.length > MOST_ROWS.answer) return rows
    for (const row of rows) Object.freeze(row)
    this.#kept += 1 + rows.length
    if (this.#kept > MOST_ROWS.connection) this.forgetAll()
    answers.keep(parameters, Object.freeze(rows))
    return rows
  }

  #begin(query: CompiledQuery): Answers {
    const answers = new Answers()
    this.#answers.set(query, answers)
    for (const table of tablesOf(query)) {
      const others = this.#byTable.get(table)
      if (others) others.push(answers)
      else this.#byTable.set(table, [answers])
    }
    return answers
  }
}

/** What one connection of SQLite remembers from one transaction to the next. */
export class ConnectionMemory extends Memory {
  readonly #versionNow: () => unknown
  #version: unknown

  constructor(database: DatabaseSync) {
    super()
    const statement = database.prepare('pragma data_version')
    this.#versionNow = () => statement.get()?.['data_version']
  }

  /** A transaction has begun. */
  begun(): void {
    const version = this.#versionNow()
    if (version !== this.#version) this.forgetAll()
    this.#version = version
  }
}

function tableWritten(statement: Written): string {
  // Of a statement that is raw text the text alone says what it does.
  if (statement.query.kind === 'RawNode') return NO_WRITES.has(statement.sql ?? '') ? 'none' : 'every'
  let table = written.get(statement.query)
  if (table === undefined) {
    table = tableOf(statement.query)
    written.set(statement.query, table)
  }
  return table
}

function tableOf(query: RootOperationNode): string {
  if (query.kind === 'SelectQueryNode') return 'none'
  const isPlain = query.kind === 'InsertQueryNode' || query.kind === 'UpdateQueryNode'
  const [table] = isPlain ? tablesIn(query.kind === 'InsertQueryNode' ? query.into : query.table) : []
  return table ?? 'every'
}

function tablesOf(query: CompiledQuery): ReadonlySet<string> {
  const tables = named.get(query) ?? new Set(tablesIn(query.query))
  named.set(query, tables)
  return tables
}

/** The answers to one query, by its values. Many requests in a row ask with the same ones: comparing them costs less than a key. */
class Answers {
  /** Made anew when it is emptied: a `Map` that is cleared leads from the table that it had to the next one, and keeps both. */
  #byKey: Map<string, Rows> | undefined
  #last: { readonly parameters: readonly unknown[]; readonly rows: Rows } | undefined

  recall(parameters: readonly unknown[]): Rows | undefined {
    if (this.#last !== undefined && areSame(this.#last.parameters, parameters)) return this.#last.rows
    const rows = this.#byKey?.get(keyOf(parameters))
    if (rows) this.#last = { parameters, rows }
    return rows
  }

  keep(parameters: readonly unknown[], rows: Rows): void {
    this.#byKey ??= new Map()
    this.#byKey.set(keyOf(parameters), rows)
    this.#last = { parameters, rows }
  }

  clear(): void {
    this.#byKey = undefined
    this.#last = undefined
  }
}

/** INVARIANT: bytes count as different, since their list may be written to: only texts, numbers and null are compared. */
function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false
  for (let at = 0; at < some.length; at++) {
    if (some[at] !== others[at] || (typeof some[at] === 'object' && some[at] !== null)) return false
  }
  return true
}

/** The length before each text, the kind before anything else: no two lists of values give the same key. */
function keyOf(parameters: readonly unknown[]): string {
  let key = ''
  for (const one of parameters) key += typeof one === 'string' ? `${one.length}:${one}` : `${typeof one}:${one};`
  return key
}

/** The tables that a query names, the first one first. */
function tablesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(tablesIn)
  if (typeof node !== 'object' || node === null) return []
  if ('kind' in node && node.kind === 'SchemableIdentifierNode' && 'identifier' in node)
    return [(node.identifier as { readonly name: string }).name]
  return Object.values(node).flatMap(tablesIn)
}
