import type { Migration } from './migration.ts'

/**
 * Deliveries also go to the URL of an organization's feature `FEATURE_NAME_WEBHOOK`, whose place is named by the id of the
 * organization: the two tables no longer refer to endpoints. Deliveries have an order and a subject; failures keep their body.
 */
export const webhooksOfFeatures: Migration = {
  name: '0034-webhooks-of-features',
  statements: [
    `create table webhook_deliveries_in_order (
      position integer primary key, event_id text not null unique,
      organization_id text not null references organizations (id), endpoint_id text not null, event_type text not null,
      subject text, body text not null, attempts integer not null, next_attempt_at integer not null,
      created_at integer not null
    ) strict`,
    `insert into webhook_deliveries_in_order (event_id, organization_id, endpoint_id, event_type, body, attempts,
      next_attempt_at, created_at) select event_id, organization_id, endpoint_id, event_type, body, attempts,
      next_attempt_at, created_at from webhook_deliveries order by created_at, event_id`,
    'drop table webhook_deliveries',
    'alter table webhook_deliveries_in_order rename to webhook_deliveries',
    'create index webhook_deliveries_next on webhook_deliveries (endpoint_id, next_attempt_at, position)',
    `create index webhook_deliveries_first on webhook_deliveries (endpoint_id, subject, position)
      where attempts = 0 and subject is not null`,
    `create table webhook_failures_with_bodies (
      position integer primary key, event_id text not null unique,
      organization_id text not null references organizations (id), endpoint_id text not null, event_type text not null,
      subject text, body text, host text not null, attempts integer not null, reason text not null,
      failed_at integer not null
    ) strict`,
    `insert into webhook_failures_with_bodies (event_id, organization_id, endpoint_id, event_type, host, attempts, reason,
      failed_at) select event_id, organization_id, endpoint_id, event_type, host, attempts, reason, failed_at
      from webhook_failures order by position`,
    'drop table webhook_failures',
    'alter table webhook_failures_with_bodies rename to webhook_failures',
    'create index webhook_failures_endpoint on webhook_failures (endpoint_id)',
    "create index features_webhook on features (organization_id, value) where name = 'FEATURE_NAME_WEBHOOK'",
  ],
}
