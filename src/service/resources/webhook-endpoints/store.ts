import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'
import { deleteDeliveriesTo } from './deliveries-store.ts'

export interface WebhookEndpointRow {
  id: string
  organization_id: string
  url: string
  name: string
  is_active: number
  /** JSON of `[{eventType, filtersJson?, isActive}]`: no activity changes them after the creation. */
  subscriptions: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    webhook_endpoints: InOrder<WebhookEndpointRow>
  }
}

export const webhookEndpointTable = createTable('webhook_endpoints')
export const webhookEndpointList = storedList('webhook_endpoints', ['url', 'name', 'subscriptions'])

/** The changes of an update of an endpoint; an absent member stays. */
export type WebhookEndpointChange = Partial<Pick<WebhookEndpointRow, 'url' | 'name' | 'is_active'>>

/** Changes a webhook endpoint. What a paused one was still to be told is dropped (docs/protocol/webhooks.md#retries). */
export async function updateWebhookEndpoint(
  tx: Transaction,
  organizationId: string,
  endpointId: string,
  change: WebhookEndpointChange & { readonly now: number },
): Promise<void> {
  await webhookEndpointTable.update(tx, organizationId, endpointId, change)
  if (change.is_active === 0) await deleteDeliveriesTo(tx, organizationId, endpointId)
}
