import { CompiledQuery } from 'kysely'
import { DirectAdapter } from './dialect.ts'
import { StoreUnavailable } from './error.ts'
import type { Rows } from './prepared.ts'
import { run } from './run.ts'
import type { Transaction } from './transaction.ts'

const SAVEPOINT = {
  set: CompiledQuery.raw('savepoint part'),
  release: CompiledQuery.raw('release savepoint part'),
  undo: CompiledQuery.raw('rollback to savepoint part'),
}

/**
 * Runs `work` so that it leaves nothing behind when it throws, while the transaction around it goes on. Savepoints of
 * one name nest, in SQLite and in PostgreSQL alike.
 */
export function withSavepoint<T>(tx: Transaction, work: () => Rows<T>): Promise<T> {
  const { adapter } = tx.getExecutor()
  return adapter instanceof DirectAdapter ? inPart(adapter, work) : inSavepoint(tx, work)
}

async function inPart<T>({ connection: { parts } }: DirectAdapter, work: () => Rows<T>): Promise<T> {
  let value: T
  parts.begin()
  try {
    const working = work()
    value = working instanceof Promise ? await working : working
  } catch (error) {
    // After a fault of the machine the transaction may be gone, and its savepoints with it.
    if (!(error instanceof StoreUnavailable)) parts.undo()
    throw error
  }
  parts.end()
  return value
}

async function inSavepoint<T>(tx: Transaction, work: () => Rows<T>): Promise<T> {
  await run(tx, SAVEPOINT.set)
  try {
    const value = await work()
    await run(tx, SAVEPOINT.release)
    return value
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    await run(tx, SAVEPOINT.undo)
    await run(tx, SAVEPOINT.release)
    throw error
  }
}
