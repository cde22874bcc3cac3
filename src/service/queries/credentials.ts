import { apiError } from '../../protocol/index.ts'
import { findAuthenticator, listAuthenticators } from '../store/authenticators.ts'
import { listOauthProviders } from '../store/oauth-providers.ts'
import { toWireAuthenticator } from '../wire/authenticators.ts'
import { toWireOauthProvider } from '../wire/oauth-providers.ts'
import type { QueryOf, QueryRows } from './table.ts'
import { checkUser } from './users.ts'

const getAuthenticator: QueryOf<'get_authenticator'> = async ({ tx, organizationId }, { authenticatorId }) => {
  const authenticator = await findAuthenticator(tx, organizationId, authenticatorId)
  if (!authenticator) throw apiError('authenticatorNotFound')
  return { authenticator: toWireAuthenticator(authenticator) }
}

const getAuthenticators: QueryOf<'get_authenticators'> = async (context, { userId }) => {
  await checkUser(context, userId)
  const authenticators = await listAuthenticators(context.tx, context.organizationId, [userId])
  return { authenticators: authenticators.map(toWireAuthenticator) }
}

/** The providers of one user, or without `userId` those of everybody. */
const getOauthProviders: QueryOf<'get_oauth_providers'> = async (context, { userId }) => {
  if (userId) await checkUser(context, userId)
  const providers = await listOauthProviders(context.tx, context.organizationId, userId ? [userId] : undefined)
  return { oauthProviders: providers.map(toWireOauthProvider) }
}

export const credentialQueries = {
  get_authenticator: getAuthenticator,
  get_authenticators: getAuthenticators,
  get_oauth_providers: getOauthProviders,
} satisfies QueryRows
