import type { Migration } from './migration.ts'

/** Why the last attempt of a delivery that is tried again has failed. */
export const reasonsOfDeliveries: Migration = {
  name: '0037-reasons-of-deliveries',
  statements: ['alter table webhook_deliveries add column reason text'],
}
