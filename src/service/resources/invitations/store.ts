import { createTable, type InOrder, storedList } from '../../store/index.ts'

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

export const invitationTable = createTable('invitations')
export const invitationList = storedList('invitations', [
  'receiver_user_name',
  'receiver_user_email',
  'receiver_user_tags',
])
