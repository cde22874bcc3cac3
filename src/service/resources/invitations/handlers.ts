import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { requireUsers, requireUserTags } from '../require.ts'
import { invitationTable } from './store.ts'

const createInvitations: TypedHandler<Wire.CreateInvitationsIntent, Wire.CreateInvitationsResult> = {
  async validate(context, { invitations }) {
    for (const { senderUserId, receiverUserTags } of invitations) {
      await requireUsers(context, 'senderUserId', [senderUserId])
      await requireUserTags(context, 'receiverUserTags', receiverUserTags)
    }
    const present = await invitationTable.count(context.tx, context.organizationId)
    await checkLimit(context, 'invitations', { present, added: invitations.length })
  },
  async execute(context, { invitations }) {
    const rows = invitations.map((invitation) => ({
      id: context.newId(),
      organization_id: context.organizationId,
      receiver_user_name: invitation.receiverUserName,
      receiver_user_email: invitation.receiverUserEmail,
      receiver_user_tags: JSON.stringify(invitation.receiverUserTags),
      access_type: invitation.accessType,
      sender_user_id: invitation.senderUserId,
      created_at: context.now,
      updated_at: context.now,
    }))
    await invitationTable.insert(context.tx, rows)
    return { invitationIds: rows.map(({ id }) => id) }
  },
}

const deleteInvitation: TypedHandler<Wire.DeleteInvitationIntent, Wire.DeleteInvitationResult> = {
  async validate({ tx, organizationId }, { invitationId }) {
    if (!(await invitationTable.find(tx, organizationId, invitationId)))
      throw apiError('notFound', 'invitation', invitationId)
  },
  async execute({ tx, organizationId }, { invitationId }) {
    await invitationTable.delete(tx, organizationId, [invitationId])
    return { invitationId }
  },
}

export const invitationHandlers = {
  ACTIVITY_TYPE_CREATE_INVITATIONS: createInvitations,
  ACTIVITY_TYPE_DELETE_INVITATION: deleteInvitation,
} satisfies HandlerRows
