import { toTimestamp, type Wire } from '../../protocol/index.ts'
import { listApiKeys } from '../store/api-keys.ts'
import type { Transaction } from '../store/index.ts'
import type { UserRow } from '../store/schema.ts'
import { listTagMembers } from '../store/tags.ts'
import { listUsers } from '../store/users.ts'
import { toWireApiKey } from './api-keys.ts'

/** Reads one user as the API writes it, or gives nothing for an id that the organization does not have. */
export async function toWireUser(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Wire.User | undefined> {
  const [user] = await toWireUsers(tx, organizationId, await listUsers(tx, organizationId, [userId]))
  return user
}

/** Writes users of one organization, in the order given, with three reads however many they are. */
export async function toWireUsers(
  tx: Transaction,
  organizationId: string,
  users: readonly UserRow[],
): Promise<Wire.User[]> {
  const userIds = users.map(({ id }) => id)
  const keys = Map.groupBy(await listApiKeys(tx, organizationId, userIds), (key) => key.user_id)
  const tags = Map.groupBy(await listTagMembers(tx, organizationId, { memberIds: userIds }), (tag) => tag.memberId)
  return users.map((user) => ({
    userId: user.id,
    userName: user.name,
    ...(user.email === null ? {} : { userEmail: user.email }),
    ...(user.phone_number === null ? {} : { userPhoneNumber: user.phone_number }),
    // Nobody can register a passkey, an OAuth provider or an MFA policy: those activities are not carried out.
    authenticators: [],
    apiKeys: (keys.get(user.id) ?? []).map(toWireApiKey),
    userTags: (tags.get(user.id) ?? []).map(({ tagId }) => tagId),
    oauthProviders: [],
    createdAt: toTimestamp(user.created_at),
    updatedAt: toTimestamp(user.updated_at),
    mfaPolicies: [],
  }))
}
