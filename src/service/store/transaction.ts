import type { Transaction as KyselyTransaction } from 'kysely'
import type { Schema } from './schema.ts'

/** An open transaction. Whoever has one can read and write; committing is the store's own business. */
export type Transaction = KyselyTransaction<Schema>
