import type { SeenDeliveries, SeenDelivery } from '../../service/operator/index.ts'
import type { DeliveryFault } from '../../webhook/index.ts'
import { view } from '../screen.ts'

/** What a receiver makes of each fault of a delivery. */
export const MEANING_OF_FAULT: Readonly<Record<DeliveryFault, string>> = {
  missing_header: 'A header that every webhook has is missing or empty.',
  invalid_timestamp: 'The timestamp is no whole number.',
  stale_timestamp: 'It was signed too long ago, or in the future; --any-age checks the signature all the same.',
  unsupported_signature_version: 'The signature is of another version than v1.',
  unsupported_signature_algorithm: 'The signature is of another algorithm than ed25519.',
  missing_key: 'The service does not list the key that signed it.',
  invalid_signature: 'The body, its event id or its timestamp is not what was signed.',
}

/** One event as it comes. */
export interface ShownEvent {
  readonly at: string
  readonly eventType: string
  readonly eventId: string
  readonly organizationId: string
  readonly body: Readonly<Record<string, unknown>>
  /** What the local URL answered, or why it did not. */
  readonly forwarded?: string | undefined
}

/** `2026-01-31T12:00:00.000Z ACTIVITY_UPDATES COMPLETED CREATE_POLICY_V3 <id> → 200`. */
export const renderEvent = view(({ at, eventType, eventId, body, forwarded }: ShownEvent): string => {
  const msg = Object(body['msg']) as Readonly<Record<string, unknown>>
  const asset = Object(msg['asset']) as Readonly<Record<string, unknown>>
  const words = [
    ...(eventType === 'ACTIVITY_UPDATES'
      ? [short(body['status'], 'ACTIVITY_STATUS_'), short(body['type'], 'ACTIVITY_TYPE_'), body['id']]
      : [msg['status'] ?? msg['operation'], asset['amount'], asset['symbol'], msg['caip2'], msg['txHash']]),
    `event ${eventId}`,
  ]
  const said = words.filter((word) => word !== undefined).join(' ')
  return `${at} ${eventType} ${said}${forwarded === undefined ? '' : ` → ${forwarded}`}\n`
})

function short(value: unknown, prefix: string): string {
  return String(value).replace(prefix, '')
}

/** What waits and what was given up, each with why. */
export const renderDeliveries = view(({ now, waiting, givenUp }: SeenDeliveries): string => {
  if (waiting.count === 0 && givenUp.count === 0) return 'No webhook waits, and none was given up.\n'
  const part = (title: string, count: number, shown: readonly string[]) =>
    count === 0 ? '' : `${title}: ${count}${shown.length < count ? `, ${shown.length} shown` : ''}\n${shown.join('')}`
  const next = '\nDeliver one again: `quorate webhooks deliveries --redeliver EVENT-ID`\n'
  return [
    part(
      'Waiting',
      waiting.count,
      // One whose time has come is on its way, or the first to be sent.
      waiting.first.map((one) => `${rowOf(one)}, ${one.at > now ? `next at ${timeOf(one)}` : 'now'}\n`),
    ),
    part(
      'Given up',
      givenUp.count,
      givenUp.last.map((one) => `${rowOf(one)}, at ${timeOf(one)}${one.isKept ? '' : '; its body was not kept'}\n`),
    ),
    givenUp.last.some(({ isKept }) => isKept) ? next : '',
  ].join('')
})

function rowOf({ eventId, eventType, host, attempts, reason }: SeenDelivery): string {
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return `  ${eventId}  ${eventType}  ${host}  ${tried}${reason === undefined ? '' : `: ${reason}`}`
}

function timeOf({ at }: SeenDelivery): string {
  return new Date(at).toISOString()
}
