import { ServiceError } from '../error.ts'
import type { SeenDeliveries, WebhookDesk } from '../operator/index.ts'
import {
  countDeliveries,
  deleteWebhookFailure,
  findWebhookFailure,
  insertWebhookDelivery,
  listLastFailures,
  listNextDeliveries,
} from '../resources/webhook-endpoints/deliveries-store.ts'
import { listFollowers } from '../resources/webhook-endpoints/store.ts'
import type { Database } from '../store/index.ts'

/** Entries of either list that an operator is shown. */
const MOST_SHOWN = 100

/** Lets an operator see what is not delivered, and have it tried again. */
export function createWebhookDesk({
  database,
  clock,
  wake,
  openHosts,
}: {
  readonly database: Database
  readonly clock: () => number
  readonly wake: () => void
  readonly openHosts: Set<string>
}): WebhookDesk {
  return {
    async list(): Promise<SeenDeliveries> {
      return database.read(async (tx) => {
        const { waiting, givenUp } = await countDeliveries(tx)
        const first = await listNextDeliveries(tx, MOST_SHOWN)
        const last = await listLastFailures(tx, MOST_SHOWN)
        const about = (row: (typeof first)[number] | (typeof last)[number]) => ({
          eventId: row.event_id,
          eventType: row.event_type,
          organizationId: row.organization_id,
          endpointId: row.endpoint_id,
          attempts: row.attempts,
          ...(row.reason === null ? {} : { reason: row.reason }),
        })
        return {
          now: clock(),
          waiting: {
            count: waiting,
            first: first.map((row) => ({ ...about(row), host: new URL(row.url).host, at: row.next_attempt_at })),
          },
          givenUp: {
            count: givenUp,
            last: last.map((row) => ({
              ...about(row),
              host: row.host,
              at: row.failed_at,
              isKept: row.is_kept === 1,
            })),
          },
        }
      })
    },
    async redeliver(eventId) {
      const now = clock()
      await database.write(async (tx) => {
        const failure = await findWebhookFailure(tx, eventId)
        if (!failure)
          throw invalid(
            `no webhook with the event id \`${eventId}\` was given up`,
            'list them: `quorate webhooks deliveries`',
          )
        const { event_id, organization_id, endpoint_id, event_type, body } = failure
        if (body === null) {
          const next = 'read what it told of from the API, as with `get_activity` or `get_send_transaction_status`'
          throw invalid(`the body of the webhook \`${eventId}\` was too long to be kept`, next)
        }
        const followers = await listFollowers(tx, [organization_id])
        if (!followers.some((each) => each.endpoint_id === endpoint_id)) {
          throw invalid(`the endpoint \`${endpoint_id}\` is paused`, 'switch it on by `update_webhook_endpoint` first')
        }
        await deleteWebhookFailure(tx, eventId)
        const about = { event_id, organization_id, endpoint_id, event_type, body }
        const due = { subject: null, attempts: 0, reason: null, next_attempt_at: now, created_at: now }
        await insertWebhookDelivery(tx, { ...about, ...due })
      })
      wake()
    },
    openLoopback(port) {
      openHosts.add(loopback(port))
    },
    closeLoopback(port) {
      openHosts.delete(loopback(port))
    },
  }
}

function loopback(port: number): string {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw invalid(`\`${port}\` is no port`, 'give one from 1 to 65535')
  return `127.0.0.1:${port}`
}

function invalid(message: string, next: string): ServiceError {
  return new ServiceError('service/operator-invalid', message, { next })
}
