import { signEd25519 } from '../crypto/index.ts'
import { concatBytes, encodeHex, encodeUtf8 } from '../encoding/index.ts'
import type { WebhookEventType } from './event-types.ts'

/** One event for one endpoint. */
export interface SignableDelivery {
  /** The same at every attempt. */
  readonly eventId: string
  readonly eventType: WebhookEventType
  /** Whose the endpoint is; what the event is about says its body. */
  readonly organizationId: string
  readonly body: Uint8Array
}

export interface WebhookSigningKey {
  /** Without dots, which part what is signed. */
  readonly keyId: string
  /** 32 bytes. */
  readonly seed: Uint8Array
}

export const ALGORITHM = 'ed25519'
export const SIGNATURE_VERSION = 'v1'
const WEBHOOK_VERSION = '1'

/**
 * Makes the headers of one attempt (docs/protocol/webhooks.md#delivery). What is signed is
 * `v1.ed25519.<key id>.<timestamp>.<event id>.` and the body; organization and event type are not covered.
 * @param timestampMs of this very attempt: receivers refuse what is some minutes old
 */
export function signDelivery(
  { eventId, eventType, organizationId, body }: SignableDelivery,
  { keyId, seed }: WebhookSigningKey,
  timestampMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(timestampMs)
  const head = `${[SIGNATURE_VERSION, ALGORITHM, keyId, timestamp, eventId].join('.')}.`
  return {
    'X-Turnkey-Organization-Id': organizationId,
    'X-Turnkey-Event-Type': eventType,
    'X-Turnkey-Timestamp': timestamp,
    'X-Turnkey-Webhook-Version': WEBHOOK_VERSION,
    'X-Turnkey-Event-Id': eventId,
    'X-Turnkey-Signature-Key-Id': keyId,
    'X-Turnkey-Signature-Algorithm': ALGORITHM,
    'X-Turnkey-Signature-Version': SIGNATURE_VERSION,
    'X-Turnkey-Signature': encodeHex(signEd25519(concatBytes(encodeUtf8(head), body), seed)),
  }
}
