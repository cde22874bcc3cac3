import { CompiledQuery } from 'kysely'
import { LockingAdapter } from './postgres-pool.ts'
import type { Transaction } from './transaction.ts'

/** Any number that nobody else uses. */
const LOCK = CompiledQuery.raw('select pg_advisory_xact_lock(7163094421)')

/**
 * Takes what belongs to the installation and to no organization, its keys and settings, before it is read to be written: another
 * process that starts at the same moment waits.
 */
export async function lockInstallation(tx: Transaction): Promise<void> {
  if (tx.getExecutor().adapter instanceof LockingAdapter) await tx.executeQuery(LOCK)
}
