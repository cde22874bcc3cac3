import { canonicalJson, type Json } from '../../encoding/index.ts'
import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { isPlainRecord, listOf } from '../value.ts'
import {
  takeBoolean,
  takeOptionalBoolean,
  takeOptionalList,
  takeOptionalText,
  takeRecord,
  takeText,
  type WireRecord,
} from './record.ts'

/** An endpoint out of the list of webhook endpoints, with its subscriptions. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'name', 'webhook endpoint')
  const subscriptions = takeOptionalList(record, 'subscriptions', 'webhook endpoint') ?? []
  return {
    address: formatAddress('webhook', name),
    kind: 'webhook',
    name,
    id: takeText(record, 'endpointId', 'webhook endpoint'),
    fields: {
      name,
      url: takeText(record, 'url', 'webhook endpoint'),
      subscriptions: subscriptions.map((one) => readSubscription(takeRecord(one, 'a subscription'))),
      isActive: takeBoolean(record, 'isActive', 'webhook endpoint'),
    },
  }
}

function readSubscription(record: WireRecord): Value {
  const filters = takeOptionalText(record, 'filtersJson', 'subscription')
  return normalSubscription({
    event: takeText(record, 'eventType', 'subscription'),
    ...(filters === undefined ? {} : { filters: parseFilters(filters) }),
    // It is active unless said otherwise (docs/protocol/webhooks.md#endpoints).
    isActive: takeOptionalBoolean(record, 'isActive', 'subscription') ?? true,
  })
}

/** The parameters of `create_webhook_endpoint`. */
export function toIntent(webhook: Resource): Value {
  const { url, subscriptions } = webhook.fields
  return {
    url: url!,
    name: webhook.name,
    subscriptions: listOf(subscriptions).map((one) => {
      const { event, filters, isActive } = one as { event: Value; filters?: Value; isActive: Value }
      return { eventType: event, ...(filters === undefined ? {} : { filtersJson: filtersText(filters) }), isActive }
    }),
  }
}

/** The parameters of `update_webhook_endpoint`: what differs and nothing else. */
export function toUpdateIntent(endpointId: Value, webhook: Resource, fields: readonly string[]): Value {
  const { url, isActive } = webhook.fields
  return {
    endpointId,
    ...(fields.includes('url') ? { url: url! } : {}),
    ...(fields.includes('name') ? { name: webhook.name } : {}),
    ...(fields.includes('isActive') ? { isActive: isActive! } : {}),
  }
}

/** The one form of a subscription: `ACTIVITY_UPDATES` is an event without filters, and active. */
export function normalSubscription(value: Value): Value {
  if (typeof value === 'string') return { event: value, isActive: true }
  if (!isPlainRecord(value)) return value
  return { isActive: true, ...value }
}

/** Filters as the API keeps them: a text of JSON. */
export function filtersText(filters: Value): string {
  return typeof filters === 'string' ? filters : canonicalJson(filters as Json)
}

function parseFilters(text: string): Value {
  try {
    const filters = JSON.parse(text) as unknown
    return typeof filters === 'object' && filters !== null ? (filters as Value) : text
  } catch {
    return text
  }
}
