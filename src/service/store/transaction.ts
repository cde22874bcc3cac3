import { type Transaction as KyselyTransaction, sql } from 'kysely'
import { StoreUnavailable } from './error.ts'
import type { Schema } from './schema.ts'

/** An open transaction. Whoever has one can read and write; committing is the store's own business. */
export type Transaction = KyselyTransaction<Schema>

/**
 * Runs `work` so that it leaves nothing behind when it throws, while the transaction around it goes on. Savepoints of
 * one name nest, in SQLite and in PostgreSQL alike.
 */
export async function withSavepoint<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(tx)
  try {
    const value = await work()
    await sql`release savepoint part`.execute(tx)
    return value
  } catch (error) {
    // After a fault of the machine the transaction may be gone, and its savepoints with it.
    if (error instanceof StoreUnavailable) throw error
    await sql`rollback to savepoint part`.execute(tx)
    await sql`release savepoint part`.execute(tx)
    throw error
  }
}
