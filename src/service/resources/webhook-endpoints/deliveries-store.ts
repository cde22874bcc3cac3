import { type Generated, type Selectable, sql } from 'kysely'
import type { WebhookEventType } from '../../../webhook/index.ts'
import { prepare, type Transaction } from '../../store/index.ts'

/** A delivery that waits: an event and the endpoint that is to get it, written in the transaction of the change that it reports. */
export interface WebhookDeliveryRow {
  /** In the order in which they were written; the database gives it. */
  position: Generated<number>
  event_id: string
  /** The owner of the endpoint. */
  organization_id: string
  /** The endpoint; or the organization itself, for the URL of its feature `FEATURE_NAME_WEBHOOK`. */
  endpoint_id: string
  event_type: WebhookEventType
  /** Of what is about one thing, first attempts are made in order; null where none is kept. */
  subject: string | null
  /** JSON as it is sent, byte for byte at every attempt; sealed where it tells of a secret request. */
  body: string
  /** How many were made and failed. */
  attempts: number
  /** Why the last one failed; null while there was none. */
  reason: string | null
  next_attempt_at: number
  created_at: number
}

/** An event whose delivery to an endpoint was given up. */
export interface WebhookFailureRow {
  /** In the order in which they were given up; the database gives it. */
  position: Generated<number>
  event_id: string
  organization_id: string
  endpoint_id: string
  event_type: WebhookEventType
  subject: string | null
  /** As in the delivery; null where it was too long to be kept, or given up before bodies were. */
  body: string | null
  /** With its port; the rest of the URL may hold a secret of its owner. */
  host: string
  attempts: number
  reason: string
  failed_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    webhook_deliveries: WebhookDeliveryRow
    webhook_failures: WebhookFailureRow
  }
}

/** How many events that were given up are remembered: the newest, of all endpoints. */
const MOST_FAILURES = 1_000

/** Characters of a body that is remembered with them. */
const MOST_OF_BODY = 65_536

const FEATURE = 'FEATURE_NAME_WEBHOOK'

/** A delivery before it has its place. */
export type NewDelivery = Omit<WebhookDeliveryRow, 'position'>

const insert = prepare((tx, row: NewDelivery) => tx.insertInto('webhook_deliveries').values(row))
// One step into the index for each endpoint, however much is waiting.
const fronts = prepare((tx, of: { isActive: number }) =>
  tx
    .selectFrom('webhook_endpoints')
    .select(({ selectFrom }) => [
      'id as endpoint_id',
      selectFrom('webhook_deliveries')
        .select(({ fn }) => fn.min('next_attempt_at').as('first'))
        .whereRef('endpoint_id', '=', 'webhook_endpoints.id')
        .as('next_attempt_at'),
    ])
    .where('is_active', '=', of.isActive)
    .unionAll(
      tx
        .selectFrom('features')
        .select(({ selectFrom }) => [
          'features.organization_id as endpoint_id',
          selectFrom('webhook_deliveries')
            .select(({ fn }) => fn.min('next_attempt_at').as('first'))
            .whereRef('endpoint_id', '=', 'features.organization_id')
            .as('next_attempt_at'),
        ])
        .where('features.name', '=', sql.lit(FEATURE)),
    ),
)
const due = prepare((tx, of: { endpointId: string; now: number; limit: number }) =>
  tx
    .selectFrom('webhook_deliveries')
    .leftJoin('webhook_endpoints', 'webhook_endpoints.id', 'webhook_deliveries.endpoint_id')
    .leftJoin('features', (join) =>
      join
        .onRef('features.organization_id', '=', 'webhook_deliveries.endpoint_id')
        .on('features.name', '=', sql.lit(FEATURE)),
    )
    .selectAll('webhook_deliveries')
    .select(({ fn }) => fn.coalesce('webhook_endpoints.url', 'features.value').as('url'))
    .where('endpoint_id', '=', of.endpointId)
    .where('next_attempt_at', '<=', of.now)
    // The first attempt about a thing waits for the first attempts before it, and for no other.
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries as earlier')
            .select('earlier.position')
            .whereRef('earlier.endpoint_id', '=', 'webhook_deliveries.endpoint_id')
            .whereRef('earlier.subject', '=', 'webhook_deliveries.subject')
            .whereRef('earlier.position', '<', 'webhook_deliveries.position')
            .where('earlier.attempts', '=', sql.lit(0))
            .where('earlier.subject', 'is not', null),
        ),
      ),
    )
    .orderBy('next_attempt_at')
    .orderBy('webhook_deliveries.position')
    .limit(of.limit),
)
const remove = prepare((tx, of: { eventId: string }) =>
  tx.deleteFrom('webhook_deliveries').where('event_id', '=', of.eventId).returning('event_id'),
)

/** Adds an event that an endpoint is to be told of. */
export async function insertWebhookDelivery(tx: Transaction, row: NewDelivery): Promise<void> {
  await insert(tx, row)
}

/** Reads, of each endpoint that is to be told of something, when the first of it is due. One that is paused is not told. */
export async function listDeliveryFronts(
  tx: Transaction,
): Promise<readonly { readonly endpoint_id: string; readonly next_attempt_at: number }[]> {
  const found = await fronts(tx, { isActive: 1 })
  return found.flatMap(({ endpoint_id, next_attempt_at }) =>
    next_attempt_at === null ? [] : [{ endpoint_id, next_attempt_at }],
  )
}

/** An event that is due, and where it goes. */
export type DueDelivery = Selectable<WebhookDeliveryRow> & { readonly url: string }

/** Reads what an endpoint is to be told by now, what was due first. */
export async function listDueDeliveries(
  tx: Transaction,
  endpointId: string,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<DueDelivery[]> {
  return (await due(tx, { endpointId, now, limit })) as DueDelivery[] // of these places, each has a URL
}

/** Notes an attempt that failed, and when the next one is due. */
export async function postponeWebhookDelivery(
  tx: Transaction,
  { event_id, ...change }: Pick<WebhookDeliveryRow, 'event_id' | 'attempts' | 'reason' | 'next_attempt_at'>,
): Promise<void> {
  await tx.updateTable('webhook_deliveries').set(change).where('event_id', '=', event_id).execute()
}

/** Puts off a first attempt, and lets those about the same thing that come after it go before. */
export async function delayWebhookDelivery(tx: Transaction, eventId: string, until: number): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: until, subject: null })
    .where('event_id', '=', eventId)
    .execute()
}

/** Deletes a delivery that succeeded or was given up. Says whether it was still there. */
export async function deleteWebhookDelivery(tx: Transaction, eventId: string): Promise<boolean> {
  return (await remove(tx, { eventId })).length > 0
}

/** Deletes the deliveries that wait for an endpoint, or for the URL of a feature by the id of its organization. */
export async function deleteDeliveriesTo(tx: Transaction, organizationId: string, endpointId: string): Promise<void> {
  await tx
    .deleteFrom('webhook_deliveries')
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', endpointId)
    .execute()
}

/** Deletes what was given up for an endpoint. */
export async function deleteFailuresOf(tx: Transaction, organizationId: string, endpointId: string): Promise<void> {
  await tx
    .deleteFrom('webhook_failures')
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', endpointId)
    .execute()
}

/** Stores a delivery that was given up, with its body unless that is long, and deletes the oldest beyond a number. */
export async function insertWebhookFailure(tx: Transaction, row: Omit<WebhookFailureRow, 'position'>): Promise<void> {
  const body = row.body !== null && row.body.length > MOST_OF_BODY ? null : row.body
  await tx
    .insertInto('webhook_failures')
    .values({ ...row, body })
    .execute()
  await tx
    .deleteFrom('webhook_failures')
    .where('position', '<=', ({ selectFrom }) =>
      selectFrom('webhook_failures').select(({ fn, val, eb }) =>
        eb(fn.max('position'), '-', val(MOST_FAILURES)).as('last'),
      ),
    )
    .execute()
}

/** Counts what waits for its delivery and what was given up, of all endpoints. */
export async function countDeliveries(
  tx: Transaction,
): Promise<{ readonly waiting: number; readonly givenUp: number }> {
  const count = async (table: 'webhook_deliveries' | 'webhook_failures') => {
    const { number } = await tx
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('number'))
      .executeTakeFirstOrThrow()
    return Number(number)
  }
  return { waiting: await count('webhook_deliveries'), givenUp: await count('webhook_failures') }
}

/** Reads what is delivered next, of all endpoints that are told anything. */
export async function listNextDeliveries(
  tx: Transaction,
  limit: number,
): Promise<readonly Omit<DueDelivery, 'position' | 'subject' | 'body' | 'created_at'>[]> {
  const found = await tx
    .selectFrom('webhook_deliveries')
    .leftJoin('webhook_endpoints', 'webhook_endpoints.id', 'webhook_deliveries.endpoint_id')
    .leftJoin('features', (join) =>
      join
        .onRef('features.organization_id', '=', 'webhook_deliveries.endpoint_id')
        .on('features.name', '=', sql.lit(FEATURE)),
    )
    .select(['event_id', 'event_type', 'webhook_deliveries.organization_id', 'endpoint_id', 'attempts', 'reason'])
    .select('next_attempt_at')
    .select(({ fn }) => fn.coalesce('webhook_endpoints.url', 'features.value').as('url'))
    .orderBy('next_attempt_at')
    .orderBy('webhook_deliveries.position')
    .limit(limit)
    .execute()
  return found.flatMap(({ url, ...row }) => (url === null ? [] : [{ ...row, url }]))
}

/** Reads what was given up last, first, without its body. */
export async function listLastFailures(
  tx: Transaction,
  limit: number,
): Promise<
  readonly (Omit<Selectable<WebhookFailureRow>, 'position' | 'subject' | 'body'> & { readonly is_kept: number })[]
> {
  return tx
    .selectFrom('webhook_failures')
    .select(['event_id', 'event_type', 'organization_id', 'endpoint_id', 'host', 'attempts', 'reason', 'failed_at'])
    .select(sql<number>`case when body is null then 0 else 1 end`.as('is_kept'))
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
}

/** Reads one event that was given up. */
export async function findWebhookFailure(
  tx: Transaction,
  eventId: string,
): Promise<Selectable<WebhookFailureRow> | undefined> {
  return tx.selectFrom('webhook_failures').selectAll().where('event_id', '=', eventId).executeTakeFirst()
}

/** Forgets that an event was given up. */
export async function deleteWebhookFailure(tx: Transaction, eventId: string): Promise<void> {
  await tx.deleteFrom('webhook_failures').where('event_id', '=', eventId).execute()
}
