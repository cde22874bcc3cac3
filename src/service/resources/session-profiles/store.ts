import { type InOrder, insertInOrder, type Transaction } from '../../store/index.ts'

/** What the keys of a login may do, in the policy language (docs/protocol/sessions.md#session-profiles). It never changes. */
export interface SessionProfileRow {
  id: string
  organization_id: string
  name: string
  scope: string
  expiration_seconds: number | null
  notes: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    session_profiles: InOrder<SessionProfileRow>
  }
}

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
