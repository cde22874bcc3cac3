import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { Transaction, UserRow } from '../../store/index.ts'
import { listApiKeys } from '../api-keys/store.ts'
import { toWireApiKey } from '../api-keys/wire.ts'
import { listAuthenticators } from '../authenticators/store.ts'
import { toWireAuthenticator } from '../authenticators/wire.ts'
import { listMfaPolicies } from '../mfa-policies/store.ts'
import { toWireMfaPolicy } from '../mfa-policies/wire.ts'
import { listOauthProviders } from '../oauth-providers/store.ts'
import { toWireOauthProvider } from '../oauth-providers/wire.ts'
import { listTagMembers } from '../tags/store.ts'
import { listUsers } from './store.ts'

/** Reads one user as the API writes it, or gives nothing for an id that the organization does not have. */
export async function toWireUser(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Wire.User | undefined> {
  const [user] = await toWireUsers(tx, organizationId, await listUsers(tx, organizationId, [userId]))
  return user
}

/** Writes users of one organization, in the order given, with six reads however many they are. */
export async function toWireUsers(
  tx: Transaction,
  organizationId: string,
  users: readonly UserRow[],
): Promise<Wire.User[]> {
  const userIds = users.map(({ id }) => id)
  const keysOf = byUser(users, await listApiKeys(tx, organizationId, userIds), (key) => key.user_id)
  const passkeysOf = byUser(users, await listAuthenticators(tx, organizationId, userIds), (row) => row.user_id)
  const providersOf = byUser(users, await listOauthProviders(tx, organizationId, userIds), (row) => row.user_id)
  const mfaPoliciesOf = byUser(users, await listMfaPolicies(tx, organizationId, userIds), (row) => row.user_id)
  const memberships = await listTagMembers(tx, organizationId, { memberIds: userIds })
  const tagsOf = byUser(users, memberships, (tag) => tag.memberId)
  return users.map((user) => ({
    userId: user.id,
    userName: user.name,
    ...(user.email === null ? {} : { userEmail: user.email }),
    ...(user.phone_number === null ? {} : { userPhoneNumber: user.phone_number }),
    authenticators: passkeysOf(user).map(toWireAuthenticator),
    apiKeys: keysOf(user).map(toWireApiKey),
    userTags: tagsOf(user).map(({ tagId }) => tagId),
    oauthProviders: providersOf(user).map(toWireOauthProvider),
    createdAt: toTimestamp(user.created_at),
    updatedAt: toTimestamp(user.updated_at),
    mfaPolicies: mfaPoliciesOf(user).map(toWireMfaPolicy),
  }))
}

/** Gives each user's own of the rows that were read for all of them: each activity's answer has one user, whose are all. */
function byUser<Row>(
  users: readonly UserRow[],
  rows: readonly Row[],
  userIdOf: (row: Row) => string,
): (user: UserRow) => readonly Row[] {
  if (users.length === 1) return () => rows
  const groups = Map.groupBy(rows, userIdOf)
  return ({ id }) => groups.get(id) ?? []
}
