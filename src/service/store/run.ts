import type { CompiledQuery } from 'kysely'
import { DirectAdapter } from './dialect.ts'
import { noteRunning } from './locked-memory.ts'
import type { Transaction } from './transaction.ts'

/** Runs a compiled query in a transaction: at once where that can be, since Kysely's way there takes several times as long. */
export async function run<Row>(
  tx: Transaction,
  query: CompiledQuery<Row>,
  parameters: readonly unknown[] = query.parameters,
): Promise<Row[]> {
  const { adapter } = tx.getExecutor()
  if (adapter instanceof DirectAdapter) return adapter.connection.run(query, parameters, false) as Row[]
  noteRunning(tx, query)
  return (await tx.executeQuery<Row>({ ...query, parameters })).rows
}
