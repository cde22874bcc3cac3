import { oauth2CredentialNotFound } from '../../readings.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { oauth2CredentialTable } from './store.ts'
import { toWireOauth2Credential } from './wire.ts'

const get: QueryOf<'get_oauth2_credential'> = async ({ tx, organizationId }, { oauth2CredentialId: id }) => {
  const row = await oauth2CredentialTable.find(tx, organizationId, id)
  if (!row) throw oauth2CredentialNotFound(id)
  return { oauth2Credential: toWireOauth2Credential(row) }
}

const list: QueryOf<'list_oauth2_credentials'> = async ({ tx, organizationId }) => ({
  oauth2Credentials: (await oauth2CredentialTable.list(tx, organizationId)).map(toWireOauth2Credential),
})

export const oauth2CredentialQueries = {
  get_oauth2_credential: get,
  list_oauth2_credentials: list,
} satisfies QueryRows
