import type { QueryOf, QueryRows } from '../query-table.ts'
import { webhookEndpointTable } from './store.ts'
import { toWireWebhookEndpoint } from './wire.ts'

const list: QueryOf<'list_webhook_endpoints'> = async ({ tx, organizationId }) => ({
  webhookEndpoints: (await webhookEndpointTable.list(tx, organizationId)).map(toWireWebhookEndpoint),
})

export const webhookEndpointQueries = { list_webhook_endpoints: list } satisfies QueryRows
