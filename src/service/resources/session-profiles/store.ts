import { insertInOrder, type SessionProfileRow, type Transaction } from '../../store/index.ts'

/** Adds a session profile. */
export async function insertSessionProfile(tx: Transaction, profile: SessionProfileRow): Promise<void> {
  await insertInOrder(tx, 'session_profiles', [profile])
}

/** Reads the session profiles of an organization, in the order of their creation. */
export async function listSessionProfiles(tx: Transaction, organizationId: string): Promise<SessionProfileRow[]> {
  return tx
    .selectFrom('session_profiles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('session_profiles.position')
    .execute()
}

/** Reads one session profile. */
export async function findSessionProfile(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<SessionProfileRow | undefined> {
  return tx
    .selectFrom('session_profiles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}
