import { apiError } from '../../../protocol/index.ts'
import type { QueryContext } from '../../engine/index.ts'
import { apiKeyTable, listApiKeys } from '../api-keys/store.ts'
import { toWireApiKey } from '../api-keys/wire.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { listTags } from '../tags/store.ts'
import { toWireTag } from '../tags/wire.ts'
import { listUsers } from './store.ts'
import { toWireUser, toWireUsers } from './wire.ts'

const getUser: QueryOf<'get_user'> = async ({ tx, organizationId }, { userId }) => {
  const user = await toWireUser(tx, organizationId, userId)
  if (!user) throw apiError('userNotFound', userId, organizationId)
  return { user }
}

const listAllUsers: QueryOf<'list_users'> = async ({ tx, organizationId }) => ({
  users: await toWireUsers(tx, organizationId, await listUsers(tx, organizationId)),
})

const getApiKey: QueryOf<'get_api_key'> = async ({ tx, organizationId }, { apiKeyId }) => {
  const key = await apiKeyTable.find(tx, organizationId, apiKeyId)
  if (!key) throw apiError('notFound', 'api key', apiKeyId)
  return { apiKey: toWireApiKey(key) }
}

/** The keys of one user, or without `userId` those of everybody. */
const getApiKeys: QueryOf<'get_api_keys'> = async (context, { userId }) => {
  if (userId) await checkUser(context, userId)
  const keys = await listApiKeys(context.tx, context.organizationId, userId ? [userId] : undefined)
  return { apiKeys: keys.map(toWireApiKey) }
}

const listUserTags: QueryOf<'list_user_tags'> = async ({ tx, organizationId }) => ({
  userTags: (await listTags(tx, organizationId, 'TAG_TYPE_USER')).map(toWireTag),
})

export const userQueries = {
  get_user: getUser,
  list_users: listAllUsers,
  get_api_key: getApiKey,
  get_api_keys: getApiKeys,
  list_user_tags: listUserTags,
} satisfies QueryRows

/** Throws the API's text for a user that the organization does not have. */
export async function checkUser({ tx, organizationId }: QueryContext, userId: string): Promise<void> {
  const users = await listUsers(tx, organizationId, [userId])
  if (users.length === 0) throw apiError('userNotFound', userId, organizationId)
}
