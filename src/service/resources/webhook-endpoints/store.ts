import { sql } from 'kysely'
import { createTable, type InOrder, type Rows, remember, storedList, type Transaction } from '../../store/index.ts'
import { deleteDeliveriesTo, deleteFailuresOf } from './deliveries-store.ts'

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

/** Where an organization wants to be told: one of its endpoints, or the URL of its feature, which has the organization's own id. */
export interface Follower {
  readonly endpoint_id: string
  readonly organization_id: string
  /** As in the row of an endpoint. */
  readonly subscriptions: string
}

/** The feature is told of activities alone (docs/protocol/webhooks.md#the-feature-webhook). */
const OF_FEATURE = JSON.stringify([{ eventType: 'ACTIVITY_UPDATES' }])

const followers = remember((tx, of: { organizationIds: readonly string[] }) =>
  tx
    .selectFrom('webhook_endpoints')
    .select(['id as endpoint_id', 'organization_id', 'subscriptions'])
    .where('organization_id', 'in', of.organizationIds)
    .where('is_active', '=', sql.lit(1))
    .unionAll(
      tx
        .selectFrom('features')
        .select([
          'organization_id as endpoint_id',
          'organization_id',
          sql.lit(OF_FEATURE).$castTo<string>().as('subscriptions'),
        ])
        .where('organization_id', 'in', of.organizationIds)
        .where('name', '=', sql.lit('FEATURE_NAME_WEBHOOK')),
    ),
)

/** Reads where these organizations want to be told, paused endpoints left out. */
export function listFollowers(tx: Transaction, organizationIds: readonly string[]): Rows<readonly Follower[]> {
  return followers(tx, { organizationIds })
}

/** Deletes an endpoint, what it was still to be told, and what was given up for it. */
export async function deleteWebhookEndpoint(
  tx: Transaction,
  organizationId: string,
  endpointId: string,
): Promise<void> {
  await deleteDeliveriesTo(tx, organizationId, endpointId)
  await deleteFailuresOf(tx, organizationId, endpointId)
  await webhookEndpointTable.delete(tx, organizationId, [endpointId])
}

/** Deletes what the URL of a feature that is removed was still to be told, and what was given up for it. */
export async function forgetWebhooksOfFeature(tx: Transaction, organizationId: string): Promise<void> {
  await deleteDeliveriesTo(tx, organizationId, organizationId)
  await deleteFailuresOf(tx, organizationId, organizationId)
}

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
