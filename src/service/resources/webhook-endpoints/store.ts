import { type InOrder, insertInOrder, type Transaction } from '../../store/index.ts'
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

/** The changes of an update of an endpoint; an absent member stays. */
export type WebhookEndpointChange = Partial<Pick<WebhookEndpointRow, 'url' | 'name' | 'is_active'>>

/** Adds a webhook endpoint. */
export async function insertWebhookEndpoint(tx: Transaction, row: WebhookEndpointRow): Promise<void> {
  await insertInOrder(tx, 'webhook_endpoints', [row])
}

/** Reads the organization's webhook endpoints, in the order of their creation. */
export async function listWebhookEndpoints(tx: Transaction, organizationId: string): Promise<WebhookEndpointRow[]> {
  return tx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('webhook_endpoints.position')
    .execute()
}

/** Reads one webhook endpoint. */
export async function findWebhookEndpoint(
  tx: Transaction,
  organizationId: string,
  endpointId: string,
): Promise<WebhookEndpointRow | undefined> {
  return tx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', endpointId)
    .executeTakeFirst()
}

/** Changes a webhook endpoint. What a paused one was still to be told is dropped (docs/protocol/webhooks.md#retries). */
export async function updateWebhookEndpoint(
  tx: Transaction,
  organizationId: string,
  endpointId: string,
  change: WebhookEndpointChange & { readonly now: number },
): Promise<void> {
  const { now, ...columns } = change
  await tx
    .updateTable('webhook_endpoints')
    .set({ ...columns, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', endpointId)
    .execute()
  if (columns.is_active === 0) await deleteDeliveriesTo(tx, organizationId, endpointId)
}

/** Deletes a webhook endpoint with its subscriptions, and what it was still to be told. */
export async function deleteWebhookEndpoint(
  tx: Transaction,
  organizationId: string,
  endpointId: string,
): Promise<void> {
  await tx
    .deleteFrom('webhook_endpoints')
    .where('organization_id', '=', organizationId)
    .where('id', '=', endpointId)
    .execute()
}
