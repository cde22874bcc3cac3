import type { Migration } from './migration.ts'

/** What a parent pays with, of a card its last digits alone, and the tier that it has activated. */
export const billing: Migration = {
  name: '0029-billing',
  statements: [
    `create table payment_methods (
      organization_id text primary key references organizations (id), id text not null, last_four text not null,
      expiry_month text, expiry_year text, card_holder_name text not null, card_holder_email text not null,
      created_at integer not null
    ) strict, without rowid`,
    `create table billing_tiers (
      organization_id text primary key references organizations (id), product_id text not null, orb_plan_id text,
      activated_at integer not null
    ) strict, without rowid`,
  ],
}
