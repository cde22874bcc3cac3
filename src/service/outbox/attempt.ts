import { encodeUtf8 } from '../../encoding/index.ts'
import { signDelivery } from '../../webhook/index.ts'
import { openText, type Sealing, webhookBodyPlace } from '../keys/index.ts'
import { type FindWebhookPlace, type PostAnswer, post } from '../network/index.ts'
import type { DueDelivery } from '../resources/webhook-endpoints/deliveries-store.ts'
import type { WebhookKeys } from './signing-keys.ts'

/** The result of an attempt; one that has failed for good is not tried again. */
export type AttemptResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly isFinal: boolean }

export interface AttemptTools {
  readonly clock: () => number
  readonly keys: WebhookKeys
  /** For what was kept sealed. */
  readonly sealing: Sealing
  readonly findPlace: FindWebhookPlace
}

/** Receivers take what was signed so long ago, or ahead (docs/protocol/webhooks.md#signature-and-keys). */
const WINDOW_MS = 300_000

/** Makes one attempt to deliver, signed for this moment, by the URL and the addresses that it has now. */
export async function attemptDelivery(
  { clock, keys, sealing, findPlace }: AttemptTools,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const place = await findPlace(delivery.url, delivery.organization_id)
  if (place.kind !== 'open') {
    return { kind: 'failed', reason: `its URL ${place.rule}`, isFinal: place.kind === 'refused' }
  }
  const { event_id: eventId, event_type: eventType, organization_id: organizationId } = delivery
  const body = encodeUtf8(openText(sealing.unseal, delivery.body, webhookBodyPlace(eventId)))
  const now = clock()
  const headers = keys.withKey((key) => signDelivery({ eventId, eventType, organizationId, body }, key, now))
  try {
    return judge(await post(place, { headers, body, signal }), now)
  } catch (error) {
    return { kind: 'failed', reason: explain(error), isFinal: false }
  }
}

/** Only a 5xx is tried again (docs/protocol/webhooks.md#retries). */
function judge({ status, date = 0 }: PostAnswer, now: number): AttemptResult {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  // A receiver that finds the signature too old says so in its own words, which are not read: its clock is.
  const behindS = Math.round((now - date) / 1_000)
  const isApart = date !== 0 && Math.abs(now - date) > WINDOW_MS
  const clocks = isApart ? `, with a clock ${Math.abs(behindS)} s ${behindS > 0 ? 'behind' : 'ahead of'} this one` : ''
  return { kind: 'failed', reason: `answered ${status}${clocks}`, isFinal: status < 500 }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'could not be reached'
  if (error.name === 'AbortError') return 'no answer in time'
  return `could not be reached: ${'code' in error ? String(error.code) : error.message}`
}
