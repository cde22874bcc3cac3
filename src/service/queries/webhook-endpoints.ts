import { listWebhookEndpoints } from '../store/webhook-endpoints.ts'
import { toWireWebhookEndpoint } from '../wire/webhook-endpoints.ts'
import type { QueryOf, QueryRows } from './table.ts'

const list: QueryOf<'list_webhook_endpoints'> = async ({ tx, organizationId }) => ({
  webhookEndpoints: (await listWebhookEndpoints(tx, organizationId)).map(toWireWebhookEndpoint),
})

export const webhookEndpointQueries = { list_webhook_endpoints: list } satisfies QueryRows
