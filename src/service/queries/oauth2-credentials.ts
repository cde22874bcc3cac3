import { oauth2CredentialNotFound } from '../handlers/readings.ts'
import { findOauth2Credential, listOauth2Credentials } from '../store/oauth2-credentials.ts'
import { toWireOauth2Credential } from '../wire/oauth2-credentials.ts'
import type { QueryOf, QueryRows } from './table.ts'

const get: QueryOf<'get_oauth2_credential'> = async ({ tx, organizationId }, { oauth2CredentialId: id }) => {
  const row = await findOauth2Credential(tx, organizationId, id)
  if (!row) throw oauth2CredentialNotFound(id)
  return { oauth2Credential: toWireOauth2Credential(row) }
}

const list: QueryOf<'list_oauth2_credentials'> = async ({ tx, organizationId }) => ({
  oauth2Credentials: (await listOauth2Credentials(tx, organizationId)).map(toWireOauth2Credential),
})

export const oauth2CredentialQueries = {
  get_oauth2_credential: get,
  list_oauth2_credentials: list,
} satisfies QueryRows
