import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { ApiKeyRow } from '../../store/index.ts'

/** Writes an API key as the API does. */
export function toWireApiKey(row: ApiKeyRow): Wire.ApiKey {
  return {
    credential: {
      publicKey: row.public_key,
      type: row.credential_type as Wire.CredentialType,
      ...(row.session_profile_id && { sessionProfileId: row.session_profile_id }),
    },
    apiKeyId: row.id,
    apiKeyName: row.name,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    ...(row.expiration_seconds === null ? {} : { expirationSeconds: String(row.expiration_seconds) }),
  }
}
