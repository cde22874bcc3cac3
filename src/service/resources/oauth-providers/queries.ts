import type { QueryOf, QueryRows } from '../query-table.ts'
import { checkUser } from '../users/queries.ts'
import { listOauthProviders } from './store.ts'
import { toWireOauthProvider } from './wire.ts'

/** The providers of one user, or without `userId` those of everybody. */
const getOauthProviders: QueryOf<'get_oauth_providers'> = async (context, { userId }) => {
  if (userId) await checkUser(context, userId)
  const providers = await listOauthProviders(context.tx, context.organizationId, userId ? [userId] : undefined)
  return { oauthProviders: providers.map(toWireOauthProvider) }
}

export const oauthProviderQueries = {
  get_oauth_providers: getOauthProviders,
} satisfies QueryRows
