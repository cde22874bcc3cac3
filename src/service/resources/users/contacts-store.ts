import { sql } from 'kysely'
import type { Transaction, UserRow } from '../../store/index.ts'

/** Reads the users of an organization who have a contact, oldest first; addresses are compared without regard to case. */
export async function listUsersWithContact(
  tx: Transaction,
  organizationId: string,
  column: 'email' | 'phone_number',
  contact: string,
): Promise<UserRow[]> {
  return tx
    .selectFrom('users')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(column === 'email' ? sql<string>`lower(email)` : 'phone_number', '=', contact)
    .orderBy('users.position')
    .execute()
}
