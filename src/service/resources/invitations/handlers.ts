/** Invitations: a mailed key makes its receiver a user (docs/protocol/organizations.md#invitations). */
import { approverOf } from '../../../authority/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { createKeyPair } from '../../keys/index.ts'
import { recordMessage, writeInvitationEmail } from '../../messages/index.ts'
import { INVITATION_S } from '../../readings.ts'
import {
  addAuthenticators,
  checkNewAuthenticators,
  type NewAuthenticator,
  toNewAuthenticator,
} from '../authenticators/new-authenticators.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { findOrganization } from '../organizations/store.ts'
import { requireUsers, requireUserTags } from '../require.ts'
import { insertTagMembers, listTags } from '../tags/store.ts'
import { insertUser, userTable } from '../users/store.ts'
import { type InvitationRow, invitationTable } from './store.ts'

const createInvitations: TypedHandler<Wire.CreateInvitationsIntent, Wire.CreateInvitationsResult> = {
  async validate(context, { invitations }) {
    for (const { senderUserId, receiverUserTags } of invitations) {
      await requireUsers(context, 'senderUserId', [senderUserId])
      await requireUserTags(context, 'receiverUserTags', receiverUserTags)
    }
    const present = (await invitationTable.list(context.tx, context.organizationId)).filter(isOpen).length
    await checkLimit(context, 'invitations', { present, added: invitations.length })
  },
  async execute(context, { invitations }) {
    const organization = await findOrganization(context.tx, context.organizationId)
    const rows: InvitationRow[] = []
    for (const invitation of invitations) rows.push(await invite(context, invitation, organization!.name))
    await invitationTable.insert(context.tx, rows)
    context.afterCommit('wakeMessenger')
    return { invitationIds: rows.map(({ id }) => id) }
  },
}

/** The private half of the key is in the mail, and nowhere else once that was sent. */
async function invite(
  context: ExecutionContext,
  invitation: Wire.InvitationParams,
  organizationName: string,
): Promise<InvitationRow> {
  const { organizationId, now } = context
  const { privateKey, publicKey } = createKeyPair(context.randomBytes)
  const [id, userId] = [context.newId(), context.newId()]
  const expiresAt = now + INVITATION_S * 1_000
  const content = { organizationName, organizationId, invitationId: id, userId, key: privateKey, seconds: INVITATION_S }
  const email = writeInvitationEmail(context.messages, invitation.receiverUserEmail, content)
  await recordMessage(context, email, expiresAt)
  return {
    id,
    organization_id: organizationId,
    receiver_user_name: invitation.receiverUserName,
    receiver_user_email: invitation.receiverUserEmail,
    receiver_user_tags: JSON.stringify(invitation.receiverUserTags),
    access_type: invitation.accessType,
    sender_user_id: invitation.senderUserId,
    status: 'INVITATION_STATUS_CREATED',
    user_id: userId,
    public_key: publicKey,
    expires_at: expiresAt,
    created_at: now,
    updated_at: now,
  }
}

type AcceptInvitationIntent = Omit<Wire.AcceptInvitationIntentV2, 'authenticator'> & {
  readonly authenticator: Parameters<typeof toNewAuthenticator>[0]
}

/** By the mailed key alone, which nobody's policies have to allow: that was decided when the invitation was made. */
const acceptInvitation: TypedHandler<AcceptInvitationIntent, Wire.AcceptInvitationResult> = {
  async validate(context, intent) {
    const { tx, organizationId } = context
    await requireOwn(context, intent)
    await checkNewAuthenticators(context, [passkeyOf(intent)], { originsOf: organizationId })
    await checkLimit(context, 'users', { present: await userTable.count(tx, organizationId), added: 1 })
  },
  /** Policies see the user that the receiver is about to become. */
  async facts(context, intent) {
    const { user_id, receiver_user_name: name, receiver_user_email: email } = await requireOwn(context, intent)
    const id = user_id!
    const tags = await standingTags(context, await requireOwn(context, intent))
    return { targetUserId: id, approvers: [approverOf({ id, name, email, tags })] }
  },
  async execute(context, intent) {
    const { tx, organizationId, now } = context
    const invitation = await requireOwn(context, intent)
    const id = invitation.user_id!
    const { receiver_user_name: name, receiver_user_email: email } = invitation
    const made = { created_at: now, updated_at: now }
    await insertUser(tx, { id, organization_id: organizationId, name, email, phone_number: null, ...made })
    await addAuthenticators(context, id, [passkeyOf(intent)])
    const members = (await standingTags(context, invitation)).map((tagId) => ({ tagId, memberId: id }))
    await insertTagMembers(tx, organizationId, members)
    await invitationTable.update(tx, organizationId, invitation.id, {
      status: 'INVITATION_STATUS_ACCEPTED',
      public_key: null,
      now,
    })
    return { invitationId: invitation.id, userId: id }
  },
}

const deleteInvitation: TypedHandler<Wire.DeleteInvitationIntent, Wire.DeleteInvitationResult> = {
  async validate(context, { invitationId }) {
    await requireInvitation(context, invitationId)
  },
  async execute({ tx, organizationId }, { invitationId }) {
    await invitationTable.delete(tx, organizationId, [invitationId])
    return { invitationId }
  },
}

export const invitationHandlers = {
  ACTIVITY_TYPE_CREATE_INVITATIONS: createInvitations,
  ACTIVITY_TYPE_ACCEPT_INVITATION: acceptInvitation,
  ACTIVITY_TYPE_ACCEPT_INVITATION_V2: acceptInvitation,
  ACTIVITY_TYPE_DELETE_INVITATION: deleteInvitation,
} satisfies HandlerRows

function isOpen({ status }: InvitationRow): boolean {
  return status === 'INVITATION_STATUS_CREATED'
}

function passkeyOf({ authenticator }: AcceptInvitationIntent): NewAuthenticator {
  return toNewAuthenticator(authenticator)
}

async function requireInvitation({ tx, organizationId }: HandlerContext, id: string): Promise<InvitationRow> {
  const found = await invitationTable.find(tx, organizationId, id)
  if (!found) throw apiError('notFound', 'invitation', id)
  return found
}

/** The invitation whose key has stamped the request. */
async function requireOwn(
  context: HandlerContext,
  { invitationId, userId }: AcceptInvitationIntent,
): Promise<InvitationRow> {
  const invitation = await requireInvitation(context, invitationId)
  if (invitation.user_id !== context.submitterId) throw apiError('notAuthorized')
  if (userId !== invitation.user_id) throw apiError('invalidField', 'userId', 'must be the one of the invitation')
  return invitation
}

/** Unstated: a tag that was deleted since the invitation. The user comes without it. */
async function standingTags({ tx, organizationId }: HandlerContext, invitation: InvitationRow): Promise<string[]> {
  const wanted = JSON.parse(invitation.receiver_user_tags) as string[]
  const there = new Set((await listTags(tx, organizationId, 'TAG_TYPE_USER')).map(({ id }) => id))
  return wanted.filter((id) => there.has(id))
}
