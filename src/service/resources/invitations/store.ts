import { type InOrder, insertInOrder, type Transaction } from '../../store/index.ts'

export interface InvitationRow {
  id: string
  organization_id: string
  receiver_user_name: string
  receiver_user_email: string
  /** JSON list of the ids of user tags. */
  receiver_user_tags: string
  access_type: string
  sender_user_id: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    invitations: InOrder<InvitationRow>
  }
}

/** Adds invitations. */
export async function insertInvitations(tx: Transaction, rows: readonly InvitationRow[]): Promise<void> {
  await insertInOrder(tx, 'invitations', rows)
}

/** Reads the organization's invitations, in the order of their creation. */
export async function listInvitations(tx: Transaction, organizationId: string): Promise<InvitationRow[]> {
  return tx
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('invitations.position')
    .execute()
}

/** Deletes an invitation. */
export async function deleteInvitation(tx: Transaction, organizationId: string, invitationId: string): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('id', '=', invitationId)
    .execute()
}
