import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import { first, type Rows, type Transaction, type UserRow, whenRead } from '../../store/index.ts'
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
export function toWireUser(tx: Transaction, organizationId: string, userId: string): Rows<Wire.User | undefined> {
  return whenRead(listUsers(tx, organizationId, [userId]), (users) =>
    whenRead(toWireUsers(tx, organizationId, users), first),
  )
}

/** Writes users of one organization, in the order given, with six reads however many they are. */
export function toWireUsers(tx: Transaction, organizationId: string, users: readonly UserRow[]): Rows<Wire.User[]> {
  const userIds = users.map(({ id }) => id)
  return whenRead(listApiKeys(tx, organizationId, userIds), (apiKeys) =>
    whenRead(listAuthenticators(tx, organizationId, userIds), (authenticators) =>
      whenRead(listOauthProviders(tx, organizationId, userIds), (oauthProviders) =>
        whenRead(listMfaPolicies(tx, organizationId, userIds), (mfaPolicies) =>
          whenRead(listTagMembers(tx, organizationId, { memberIds: userIds }), (tags) =>
            writeUsers(users, { apiKeys, authenticators, oauthProviders, mfaPolicies, tags }),
          ),
        ),
      ),
    ),
  )
}

/** What is told of users besides their rows, of all of them together. */
interface OfUsers {
  readonly apiKeys: Read<typeof listApiKeys>
  readonly authenticators: Read<typeof listAuthenticators>
  readonly oauthProviders: Read<typeof listOauthProviders>
  readonly mfaPolicies: Read<typeof listMfaPolicies>
  readonly tags: Read<typeof listTagMembers>
}
type Read<List extends (...of: never[]) => unknown> = Awaited<ReturnType<List>>

function writeUsers(users: readonly UserRow[], of: OfUsers): Wire.User[] {
  const keysOf = byUser(users, of.apiKeys, (key) => key.user_id)
  const passkeysOf = byUser(users, of.authenticators, (row) => row.user_id)
  const providersOf = byUser(users, of.oauthProviders, (row) => row.user_id)
  const mfaPoliciesOf = byUser(users, of.mfaPolicies, (row) => row.user_id)
  const tagsOf = byUser(users, of.tags, (tag) => tag.memberId)
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
