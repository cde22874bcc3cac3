import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { OauthProviderRow } from '../../store/index.ts'

/** Writes an OAuth provider as the API does. */
export function toWireOauthProvider(row: OauthProviderRow): Wire.OauthProvider {
  return {
    providerId: row.id,
    providerName: row.name,
    issuer: row.issuer,
    audience: row.audience,
    subject: row.subject,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
