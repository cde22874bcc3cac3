/**
 * Answers of reads that nearly every request repeats: who has a key, who the quorum is, which addresses may ask.
 *
 * Premise: an answer stays true until somebody writes to a table that its query names. What this connection writes it
 * sees; that another one has written, SQLite tells (sqlite.org/pragma.html#pragma_data_version), and is asked as each
 * transaction begins. INVARIANT: a statement of which it is not plain what it writes counts as one that writes
 * everything: a deletion, which may go on to other tables; whatever undoes; and what is no query of Kysely's. There are no
 * triggers, so that a statement writes to no other table than it names.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { CompiledQuery } from 'kysely'

/** Rows of an answer that is kept, and rows that are kept before all are forgotten, at most: some MB. */
const MOST_ROWS = { answer: 32, connection: 20_000 }

/** Statements that begin or end a transaction or a savepoint, and undo nothing. */
const NO_WRITES = new Set(['begin', 'begin immediate', 'commit', 'savepoint part', 'release savepoint part'])

type Rows = readonly unknown[]
type Read = (query: CompiledQuery, parameters: readonly unknown[]) => Rows

/** The answers that one connection remembers. */
export class Memory {
  readonly #dataVersion: StatementSync
  /** The table that a statement writes to, or `every`, or `none`. */
  readonly #written = new WeakMap<CompiledQuery, string>()
  readonly #answers = new Map<CompiledQuery, Answers>()
  readonly #byTable = new Map<string, Answers[]>()
  #version: unknown
  /** Rows, and one for each answer, since all were forgotten. */
  #kept = 0

  constructor(database: DatabaseSync) {
    this.#dataVersion = database.prepare('pragma data_version')
  }

  /** A transaction has begun. */
  begun(): void {
    const version = this.#dataVersion.get()?.['data_version']
    if (version !== this.#version) this.#forgetAll()
    this.#version = version
  }

  /** A statement is about to run. Says whether it writes something. */
  running(query: CompiledQuery): boolean {
    let table = this.#written.get(query)
    if (table === undefined) {
      table = this.#tableWritten(query)
      this.#written.set(query, table)
    }
    if (table === 'none') return false
    if (table === 'every') this.#forgetAll()
    else for (const answers of this.#byTable.get(table) ?? []) answers.clear()
    return true
  }

  /** Gives the rows as they were read last, or reads them. Nobody may change them. */
  recall(query: CompiledQuery, parameters: readonly unknown[], read: Read): Rows {
    const answers = this.#answers.get(query) ?? this.#begin(query)
    const known = answers.recall(parameters)
    if (known) return known
    const rows = read(query, parameters)
    if (rows.length > MOST_ROWS.answer) return rows
    for (const row of rows) Object.freeze(row)
    this.#kept += 1 + rows.length
    if (this.#kept > MOST_ROWS.connection) this.#forgetAll()
    answers.keep(parameters, Object.freeze(rows))
    return rows
  }

  #tableWritten({ query, sql }: CompiledQuery): string {
    if (query.kind === 'SelectQueryNode' || NO_WRITES.has(sql)) return 'none'
    const isPlain = query.kind === 'InsertQueryNode' || query.kind === 'UpdateQueryNode'
    const [table] = isPlain ? tablesIn(query.kind === 'InsertQueryNode' ? query.into : query.table) : []
    return table ?? 'every'
  }

  #begin(query: CompiledQuery): Answers {
    const answers = new Answers()
    this.#answers.set(query, answers)
    for (const table of new Set(tablesIn(query.query))) {
      const others = this.#byTable.get(table)
      if (others) others.push(answers)
      else this.#byTable.set(table, [answers])
    }
    return answers
  }

  #forgetAll(): void {
    for (const answers of this.#answers.values()) answers.clear()
    this.#kept = 0
  }
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
