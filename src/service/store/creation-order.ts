import { type RawBuilder, sql } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Orders a list by creation. SQLite gives every new row a rowid above all that stand, so this order holds where clocks
 * stand still (several rows of one activity share their time) or step back.
 */
export function inCreationOrder(table: keyof Schema): RawBuilder<number> {
  return sql<number>`${sql.ref(`${table}.rowid`)}`
}
