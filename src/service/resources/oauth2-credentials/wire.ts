import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { Oauth2CredentialRow } from './store.ts'

/**
 * Writes an OAuth 2.0 credential as the API does, its secret sealed as it came
 * (docs/protocol/organizations.md#oauth-20-credentials).
 */
export function toWireOauth2Credential(row: Oauth2CredentialRow): Wire.Oauth2Credential {
  return {
    oauth2CredentialId: row.id,
    organizationId: row.organization_id,
    provider: row.provider as Wire.Oauth2Provider,
    clientId: row.client_id,
    encryptedClientSecret: row.encrypted_client_secret,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
