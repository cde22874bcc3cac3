import { apiError, type Wire } from '../../../protocol/index.ts'
import { isWebhookEventType, WEBHOOK_EVENTS } from '../../../webhook/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { eventsOfParentsAlone, unsupportedEventType, WEBHOOK_LIMITS } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { findOrganization } from '../organizations/store.ts'
import { deleteWebhookEndpoint, updateWebhookEndpoint, type WebhookEndpointRow, webhookEndpointTable } from './store.ts'
import { toWireWebhookEndpoint } from './wire.ts'

const create: TypedHandler<Wire.CreateWebhookEndpointIntent, Wire.CreateWebhookEndpointResult> = {
  async prepare({ url }, outside, organizationId) {
    await outside.checkWebhookUrl(url, 'url', organizationId)
  },
  async validate(context, { subscriptions = [] }) {
    if (subscriptions.length > WEBHOOK_LIMITS.subscriptions) {
      throw apiError('invalidField', 'subscriptions', `must have at most ${WEBHOOK_LIMITS.subscriptions} entries`)
    }
    for (const subscription of subscriptions) await checkSubscription(context, subscription)
    const present = await webhookEndpointTable.count(context.tx, context.organizationId)
    if (present >= WEBHOOK_LIMITS.endpoints) {
      throw apiError('maxReached', 'organization', 'webhook endpoints', WEBHOOK_LIMITS.endpoints)
    }
  },
  async execute(context, { url, name, subscriptions = [] }) {
    const row: WebhookEndpointRow = {
      id: context.newId(),
      organization_id: context.organizationId,
      url,
      name,
      is_active: 1,
      subscriptions: JSON.stringify(subscriptions.map((entry) => ({ ...entry, isActive: entry.isActive ?? true }))),
      created_at: context.now,
      updated_at: context.now,
    }
    await webhookEndpointTable.insert(context.tx, [row])
    return { endpointId: row.id, webhookEndpoint: toWireWebhookEndpoint(row) }
  },
}

/** Subscriptions cannot be changed; an absent or empty text stays (docs/protocol/webhooks.md#endpoints). */
const update: TypedHandler<Wire.UpdateWebhookEndpointIntent, Wire.UpdateWebhookEndpointResult> = {
  prepare: async ({ url }, outside, organizationId) => {
    if (url) await outside.checkWebhookUrl(url, 'url', organizationId)
  },
  async validate(context, { endpointId }) {
    await requireEndpoint(context, endpointId)
  },
  async execute(context, { endpointId, url, name, isActive }) {
    await updateWebhookEndpoint(context.tx, context.organizationId, endpointId, {
      ...(url ? { url } : {}),
      ...(name ? { name } : {}),
      ...(isActive === undefined ? {} : { is_active: isActive ? 1 : 0 }),
      now: context.now,
    })
    return { endpointId, webhookEndpoint: toWireWebhookEndpoint(await requireEndpoint(context, endpointId)) }
  },
}

const remove: TypedHandler<Wire.DeleteWebhookEndpointIntent, Wire.DeleteWebhookEndpointResult> = {
  async validate(context, { endpointId }) {
    await requireEndpoint(context, endpointId)
  },
  async execute({ tx, organizationId }, { endpointId }) {
    await deleteWebhookEndpoint(tx, organizationId, endpointId)
    return { endpointId }
  },
}

export const webhookEndpointHandlers = {
  ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT: create,
  ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT: update,
  ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT: remove,
} satisfies HandlerRows

async function checkSubscription(context: HandlerContext, subscription: Wire.WebhookSubscriptionParams): Promise<void> {
  const { eventType, filtersJson } = subscription
  if (!isWebhookEventType(eventType)) throw unsupportedEventType(eventType)
  if (filtersJson) checkFilters(filtersJson)
  if (WEBHOOK_EVENTS[eventType].owner === 'anybody') return
  const organization = await findOrganization(context.tx, context.organizationId)
  if (organization?.parent_id != null) throw eventsOfParentsAlone(eventType)
}

/** Unstated: the grammar of filters. Any JSON is kept and given back as it was sent (docs/protocol/webhooks.md#filters). */
function checkFilters(filters: string): void {
  const field = 'subscriptions.filtersJson'
  if (Buffer.byteLength(filters) > WEBHOOK_LIMITS.filterBytes) {
    throw apiError('invalidField', field, `must have at most ${WEBHOOK_LIMITS.filterBytes} bytes`)
  }
  try {
    JSON.parse(filters)
  } catch {
    throw apiError('invalidField', field, 'must be JSON')
  }
}

async function requireEndpoint({ tx, organizationId }: HandlerContext, id: string): Promise<WebhookEndpointRow> {
  const endpoint = await webhookEndpointTable.find(tx, organizationId, id)
  if (!endpoint) throw apiError('notFound', 'webhook endpoint', id)
  return endpoint
}
