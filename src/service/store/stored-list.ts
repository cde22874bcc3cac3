import { sql } from 'kysely'
import { prepare, type Rows, whenRead } from './prepared.ts'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** A list that is answered whole, which is why what it may hold is bounded. */
export interface StoredList {
  readonly table: keyof Schema
  /** Adds up the bytes of the texts that an organization has in it. */
  countBytes(tx: Transaction, organizationId: string): Rows<number>
}

/**
 * Makes the list of a table; `columns` are the texts that the creator of an element may choose. The database knows how long a
 * text is without reading it. Prepared, since most submits ask it; a query that is no query of Kysely's would also make the
 * connection forget what it remembers.
 */
export function storedList<Table extends keyof Schema>(
  table: Table,
  columns: readonly (keyof Schema[Table] & string)[],
): StoredList {
  const bytes = prepare((tx, of: { organizationId: string }) => {
    const lengths = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
    // One table stands for all of them: each row has its organization.
    return tx
      .selectFrom(table as 'users')
      .select(sql<number>`coalesce(sum(${sql.join(lengths, sql` + `)}), 0)`.as('bytes'))
      .where('organization_id', '=', of.organizationId)
  })
  return {
    table,
    countBytes: (tx, organizationId) => whenRead(bytes(tx, { organizationId }), ([row]) => Number(row!.bytes)),
  }
}
