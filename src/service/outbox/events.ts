import type { Wire } from '../../protocol/index.ts'
import type { WebhookEventType } from '../../webhook/index.ts'
import { type Sealing, sealText, webhookBodyPlace } from '../keys/index.ts'
import { insertWebhookDelivery } from '../resources/webhook-endpoints/deliveries-store.ts'
import { listFollowers } from '../resources/webhook-endpoints/store.ts'
import type { Transaction } from '../store/index.ts'
import { produceActivity } from './activity.ts'
import { produceConfirmed, produceFinalized } from './balance.ts'
import { passesFilter } from './filters.ts'
import { produceSendStatus } from './send-status.ts'

/** The events that this service tells of. */
export const PRODUCERS = {
  ACTIVITY_UPDATES: produceActivity,
  BALANCE_CONFIRMED_UPDATES: produceConfirmed,
  BALANCE_FINALIZED_UPDATES: produceFinalized,
  SEND_TRANSACTION_STATUS_UPDATES: produceSendStatus,
} as const satisfies Record<WebhookEventType, unknown>
export type ProducedEvent = keyof typeof PRODUCERS

/** What has changed, by the event that tells of it. */
export type ChangeOf<Type extends ProducedEvent> = Parameters<(typeof PRODUCERS)[Type]>[1]

export interface RecordTools {
  readonly newId: () => string
  readonly seal: Sealing['seal']
  /** Whether subscriptions choose by their filters. */
  readonly appliesFilters: boolean
}

/**
 * Writes the event of a change for each endpoint that is to be told, with an id of its own, and says whether there is one.
 * INVARIANT: it is written in the transaction of the change, so that neither is there without the other.
 */
export async function recordEvent<Type extends ProducedEvent>(
  tx: Transaction,
  eventType: Type,
  changed: ChangeOf<Type>,
  { newId, seal, appliesFilters }: RecordTools,
): Promise<boolean> {
  const event = await PRODUCERS[eventType](tx, changed as never)
  const listing = listFollowers(tx, event.organizationIds)
  const followers = listing instanceof Promise ? await listing : listing
  const wants = ({ subscriptions }: { readonly subscriptions: string }) =>
    (JSON.parse(subscriptions) as Wire.WebhookSubscriptionParams[]).some(
      (each) =>
        each.eventType === eventType &&
        each.isActive !== false &&
        (!appliesFilters || passesFilter(each.filtersJson, event.facts)),
    )
  const told = followers.filter(wants)
  if (told.length === 0) return false
  const body = await event.write()
  for (const { endpoint_id, organization_id } of told) {
    const event_id = newId()
    await insertWebhookDelivery(tx, {
      event_id,
      organization_id,
      endpoint_id,
      event_type: eventType,
      subject: event.subject ?? null,
      body: event.isSecret ? sealText(seal, body, webhookBodyPlace(event_id)) : body,
      attempts: 0,
      reason: null,
      next_attempt_at: event.at,
      created_at: event.at,
    })
  }
  return true
}
