import { apiError } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { sessionProfileTable } from './store.ts'
import { toWireSessionProfile } from './wire.ts'

const getSessionProfile: QueryOf<'get_session_profile'> = async ({ tx, organizationId }, { sessionProfileId }) => {
  const profile = await sessionProfileTable.find(tx, organizationId, sessionProfileId)
  if (!profile) throw apiError('notFound', 'session profile', sessionProfileId)
  return { sessionProfile: toWireSessionProfile(profile) }
}

const getSessionProfiles: QueryOf<'get_session_profiles'> = async ({ tx, organizationId }) => ({
  sessionProfiles: (await sessionProfileTable.list(tx, organizationId)).map(toWireSessionProfile),
})

export const sessionProfileQueries = {
  get_session_profile: getSessionProfile,
  get_session_profiles: getSessionProfiles,
} satisfies QueryRows
