import type { Migration } from './migration.ts'

/** What endpoints are still to be told, and what was given up. Both go with the endpoint. */
export const webhookDeliveries: Migration = {
  name: '0014-webhook-deliveries',
  statements: [
    `create table webhook_deliveries (
      event_id text primary key, organization_id text not null references organizations (id),
      endpoint_id text not null references webhook_endpoints (id) on delete cascade, event_type text not null,
      body text not null, attempts integer not null, next_attempt_at integer not null, created_at integer not null
    ) strict`,
    'create index webhook_deliveries_next on webhook_deliveries (endpoint_id, next_attempt_at)',
    `create table webhook_failures (
      position integer primary key, event_id text not null unique,
      organization_id text not null references organizations (id),
      endpoint_id text not null references webhook_endpoints (id) on delete cascade, event_type text not null,
      host text not null, attempts integer not null, reason text not null, failed_at integer not null
    ) strict`,
    'create index webhook_failures_endpoint on webhook_failures (endpoint_id)',
  ],
}
