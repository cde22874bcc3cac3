/** Values that are sealed under the master key, wherever they stand: read in the order of their rows, and put in each other's place. */
import { sql } from 'kysely'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** A column of sealed values. */
export interface SealedColumn {
  readonly table: keyof Schema
  /** The columns of the table's key: texts, and numbers from 1. */
  readonly key: readonly string[]
  /** The column whose value the seal is bound to. */
  readonly id: string
  readonly column: string
  /** Of texts of which some are sealed: what those begin with. */
  readonly prefix?: string
  /** Of activities: the types of those that have something sealed. */
  readonly types?: readonly string[]
}

/** The key of a row. */
export type RowKey = readonly (string | number)[]

/** What stands in one row; null where nothing sealed does. */
export interface StoredValue {
  readonly at: RowKey
  readonly id: string
  readonly value: Uint8Array | string | null
  /** Of an activity. */
  readonly type: string
}

/** Reads the rows behind one, whether something sealed stands there or not: so many rows are looked at, and no more. */
export async function listStored(
  tx: Transaction,
  { table, key, id, column, prefix, types }: SealedColumn,
  { after, limit }: { readonly after: RowKey | undefined; readonly limit: number },
): Promise<readonly StoredValue[]> {
  const stored = sql.ref(column)
  const columns = sql.join(key.map((name) => sql.ref(name)))
  const value =
    prefix !== undefined
      ? sql`case when ${stored} like ${`${prefix}%`} then ${stored} end as value`
      : types !== undefined
        ? sql`case when type in (${sql.join(types)}) then ${stored} end as value, type`
        : sql`${stored} as value`
  const behind = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(after)})`
  const { rows } = await sql<
    StoredValue & Record<string, string | number>
  >`select ${columns}, ${sql.ref(id)} as sealed_id,
    ${value} from ${sql.table(table)} ${behind} order by ${columns} limit ${sql.lit(limit)}`.execute(tx)
  return rows.map((row) => ({
    at: key.map((name) => row[name]!),
    id: String(row['sealed_id']),
    value: row.value,
    type: String(row.type),
  }))
}

/** Puts a value in the place of another; nothing where that is not there any more. */
export async function replaceStored(
  tx: Transaction,
  { table, key, column }: SealedColumn,
  { at, from, to }: { readonly at: RowKey; readonly from: Uint8Array | string; readonly to: Uint8Array | string },
): Promise<void> {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${to}
    where (${columns}) = (${sql.join(at)}) and ${sql.ref(column)} = ${from}`.execute(tx)
}

/** From now on SQLite writes zeros over what this connection deletes or replaces. PostgreSQL keeps old rows until it vacuums. */
export async function overwriteFreed(tx: Transaction): Promise<void> {
  await sql`pragma secure_delete = on`.execute(tx)
}
