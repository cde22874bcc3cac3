import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'

export interface InvitationRow {
  id: string
  organization_id: string
  receiver_user_name: string
  receiver_user_email: string
  /** JSON list of the ids of user tags. */
  receiver_user_tags: string
  access_type: string
  sender_user_id: string
  /** INVITATION_STATUS_CREATED or INVITATION_STATUS_ACCEPTED. */
  status: string
  /** The user that the receiver becomes by accepting; null for one that older versions made, which nobody can accept. */
  user_id: string | null
  /** Of the key that was mailed: lower-case hex, compressed. Null once it has served. */
  public_key: string | null
  /** When the key ends. */
  expires_at: number | null
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    invitations: InOrder<InvitationRow>
  }
}

/** An invitation that its receiver can accept. */
export type OpenInvitation = InvitationRow & { user_id: string; public_key: string; expires_at: number }

export const invitationTable = createTable('invitations')
export const invitationList = storedList('invitations', [
  'receiver_user_name',
  'receiver_user_email',
  'receiver_user_tags',
])

/** Finds the invitation whose key this is; one that was accepted has none. */
export async function findInvitationByKey(
  tx: Transaction,
  organizationId: string,
  publicKey: string,
): Promise<OpenInvitation | undefined> {
  const row = await tx
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('public_key', '=', publicKey)
    .executeTakeFirst()
  return row as OpenInvitation | undefined // what has a key has the rest
}
