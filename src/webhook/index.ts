/**
 * Webhook: which events there are, and how a delivery of one is signed and verified (docs/protocol/webhooks.md). It sends nothing
 * and keeps nothing: what is delivered to whom, and again when nobody answers, is the service's own business. Receivers
 * verify with the public clients' helper.
 */
export { isWebhookEventType, WEBHOOK_EVENTS, type WebhookEventType } from './event-types.ts'
export { toWebhookJwk, webhookKeyId } from './keys.ts'
export { type SignableDelivery, signDelivery, type WebhookSigningKey } from './sign.ts'
export {
  type DeliveryFault,
  type DeliveryHeaders,
  type DeliveryVerdict,
  type PublishedKey,
  readPublishedKeys,
  verifyDelivery,
} from './verify.ts'
