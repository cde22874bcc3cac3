import type { SessionProfileRow, Transaction } from '../../store/index.ts'

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
