import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { SessionProfileRow } from './store.ts'

/** Writes a session profile as the API does. */
export function toWireSessionProfile(row: SessionProfileRow): Wire.SessionProfile {
  return {
    sessionProfileId: row.id,
    sessionProfileName: row.name,
    scope: row.scope,
    ...(row.expiration_seconds === null ? {} : { expirationSeconds: String(row.expiration_seconds) }),
    notes: row.notes,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
