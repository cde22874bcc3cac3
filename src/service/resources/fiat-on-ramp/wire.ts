import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { FiatOnRampCredentialRow } from './store.ts'

/** Writes a credential as the API does, its secrets sealed as they came. */
export function toWireFiatOnRampCredential(row: FiatOnRampCredentialRow): Wire.FiatOnRampCredential {
  return {
    fiatOnrampCredentialId: row.id,
    organizationId: row.organization_id,
    onrampProvider: row.provider as Wire.FiatOnRampProvider,
    ...(row.project_id === null ? {} : { projectId: row.project_id }),
    publishableApiKey: row.publishable_api_key,
    encryptedSecretApiKey: row.encrypted_secret_api_key,
    ...(row.encrypted_private_api_key === null ? {} : { encryptedPrivateApiKey: row.encrypted_private_api_key }),
    sandboxMode: row.sandbox_mode === 1,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
