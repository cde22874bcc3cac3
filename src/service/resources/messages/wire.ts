import type { Wire } from '../../../protocol/index.ts'
import type { EmailEventRow } from './store.ts'

/** Writes an event of an e-mail as the API does. Unstated: the form of its times; RFC 3339. */
export function toWireEmailEvent(row: EmailEventRow): Wire.EmailEvent {
  const at = new Date(row.occurred_at).toISOString()
  return {
    id: row.id,
    organizationId: row.organization_id,
    messageId: row.message_id,
    eventType: row.event_type,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    timestamp: at,
    createdAt: at,
    details: JSON.parse(row.details) as Wire.EmailEventDetails,
  }
}
