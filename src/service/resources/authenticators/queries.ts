import { apiError } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { checkUser } from '../users/queries.ts'
import { authenticatorTable, listAuthenticators } from './store.ts'
import { toWireAuthenticator } from './wire.ts'

const getAuthenticator: QueryOf<'get_authenticator'> = async ({ tx, organizationId }, { authenticatorId }) => {
  const authenticator = await authenticatorTable.find(tx, organizationId, authenticatorId)
  if (!authenticator) throw apiError('authenticatorNotFound')
  return { authenticator: toWireAuthenticator(authenticator) }
}

const getAuthenticators: QueryOf<'get_authenticators'> = async (context, { userId }) => {
  await checkUser(context, userId)
  const authenticators = await listAuthenticators(context.tx, context.organizationId, [userId])
  return { authenticators: authenticators.map(toWireAuthenticator) }
}

export const authenticatorQueries = {
  get_authenticator: getAuthenticator,
  get_authenticators: getAuthenticators,
} satisfies QueryRows
