import type { Transaction } from '../../store/index.ts'

/** A read-only session: its token is kept by its hash alone. */
export interface ReadOnlySessionRow {
  /** Hex of the SHA-256 of the token. */
  token_hash: string
  organization_id: string
  user_id: string
  created_at: number
  expires_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    read_only_sessions: ReadOnlySessionRow
  }
}

/** Keeps a read-only session, and forgets those that have ended. */
export async function insertReadOnlySession(tx: Transaction, session: ReadOnlySessionRow): Promise<void> {
  await tx.deleteFrom('read_only_sessions').where('expires_at', '<=', session.created_at).execute()
  await tx.insertInto('read_only_sessions').values(session).execute()
}

/** Reads a read-only session, of whatever organization, by the hash of its token. */
export async function findReadOnlySession(tx: Transaction, tokenHash: string): Promise<ReadOnlySessionRow | undefined> {
  return tx.selectFrom('read_only_sessions').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()
}
