import type { WebhookEventType } from '../../webhook/index.ts'
import { insertWebhookDelivery, type WebhookDeliveryRow } from '../resources/webhook-endpoints/deliveries-store.ts'
import { webhookEndpointTable } from '../resources/webhook-endpoints/store.ts'
import { toWireWebhookEndpoint } from '../resources/webhook-endpoints/wire.ts'
import type { Transaction } from '../store/index.ts'
import type { WebhookEvent } from './event.ts'
import { produceSendStatus } from './send-status.ts'

/** Makes the event of a change, out of what has changed. */
type Producer = (tx: Transaction, changed: never) => Promise<WebhookEvent>

/** The events that this service tells of. An event without a producer may be subscribed to, and never comes. */
export const PRODUCERS = {
  SEND_TRANSACTION_STATUS_UPDATES: produceSendStatus,
} as const satisfies Partial<Record<WebhookEventType, Producer>>
export type ProducedEvent = keyof typeof PRODUCERS

/**
 * Writes the event of a change for each endpoint that is to be told, with an id of its own. INVARIANT: it is written in the
 * transaction of the change, so that neither is there without the other.
 */
export async function recordEvent<Type extends ProducedEvent>(
  tx: Transaction,
  eventType: Type,
  changed: Parameters<(typeof PRODUCERS)[Type]>[1],
  newId: () => string,
): Promise<void> {
  const { organizationId, body, at } = await PRODUCERS[eventType](tx, changed)
  const endpoints = (await webhookEndpointTable.list(tx, organizationId)).map(toWireWebhookEndpoint)
  for (const { endpointId, isActive, subscriptions = [] } of endpoints) {
    const isWanted = subscriptions.some((each) => each.eventType === eventType && each.isActive !== false)
    if (!isActive || !isWanted) continue
    const row: WebhookDeliveryRow = {
      event_id: newId(),
      organization_id: organizationId,
      endpoint_id: endpointId,
      event_type: eventType,
      body: JSON.stringify(body),
      attempts: 0,
      next_attempt_at: at,
      created_at: at,
    }
    await insertWebhookDelivery(tx, row)
  }
}
