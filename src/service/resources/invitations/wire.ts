import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { InvitationRow } from './store.ts'

/** Writes an invitation as the API does; a deleted one is gone. */
export function toWireInvitation(row: InvitationRow): Wire.Invitation {
  return {
    invitationId: row.id,
    receiverUserName: row.receiver_user_name,
    receiverUserEmail: row.receiver_user_email,
    receiverUserTags: JSON.parse(row.receiver_user_tags) as string[],
    accessType: row.access_type as Wire.AccessType,
    status: row.status as Wire.InvitationStatus,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    senderUserId: row.sender_user_id,
  }
}
