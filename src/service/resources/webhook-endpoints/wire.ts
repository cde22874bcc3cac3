import type { Wire } from '../../../protocol/index.ts'
import type { WebhookEndpointRow } from './store.ts'

/** Writes a webhook endpoint as the API does, with its subscriptions. */
export function toWireWebhookEndpoint(row: WebhookEndpointRow): Wire.WebhookEndpointData {
  return {
    endpointId: row.id,
    organizationId: row.organization_id,
    url: row.url,
    name: row.name,
    isActive: row.is_active === 1,
    subscriptions: JSON.parse(row.subscriptions) as Wire.WebhookSubscriptionParams[],
  }
}
