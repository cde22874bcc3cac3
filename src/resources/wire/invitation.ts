import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeText, takeTexts, type WireRecord } from './record.ts'

const PREFIX = 'ACCESS_TYPE_'

/** An invitation out of the organization's data; nothing for one that was taken back. */
export function fromWire(record: WireRecord): Resource | undefined {
  if (takeText(record, 'status', 'invitation') === 'INVITATION_STATUS_REVOKED') return undefined
  const name = takeText(record, 'receiverUserName', 'invitation')
  const access = takeText(record, 'accessType', 'invitation')
  return {
    address: formatAddress('invitation', name),
    kind: 'invitation',
    name,
    id: takeText(record, 'invitationId', 'invitation'),
    fields: {
      name,
      email: takeText(record, 'receiverUserEmail', 'invitation'),
      tags: takeTexts(record, 'receiverUserTags', 'invitation'),
      access: access.startsWith(PREFIX) ? access.slice(PREFIX.length).toLowerCase() : access,
      sender: takeText(record, 'senderUserId', 'invitation'),
    },
  }
}

/** One entry of `create_invitations`. */
export function toIntent(invitation: Resource): Value {
  const { email, tags, access, sender } = invitation.fields
  return {
    receiverUserName: invitation.name,
    receiverUserEmail: email!,
    receiverUserTags: tags ?? [],
    accessType: `${PREFIX}${String(access).toUpperCase()}`,
    senderUserId: sender!,
  }
}
