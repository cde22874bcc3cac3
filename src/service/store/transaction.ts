import type { Transaction as KyselyTransaction } from 'kysely'
import type { Schema } from './schema.ts'

/** An open transaction, for reading and writing; only the store commits it. */
export type Transaction = KyselyTransaction<Schema>
