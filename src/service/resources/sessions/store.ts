import type { ReadOnlySessionRow, Transaction } from '../../store/index.ts'

/** Keeps a read-only session, and forgets those that have ended. */
export async function insertReadOnlySession(tx: Transaction, session: ReadOnlySessionRow): Promise<void> {
  await tx.deleteFrom('read_only_sessions').where('expires_at', '<=', session.created_at).execute()
  await tx.insertInto('read_only_sessions').values(session).execute()
}

/** Reads a read-only session, of whatever organization, by the hash of its token. */
export async function findReadOnlySession(tx: Transaction, tokenHash: string): Promise<ReadOnlySessionRow | undefined> {
  return tx.selectFrom('read_only_sessions').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()
}
