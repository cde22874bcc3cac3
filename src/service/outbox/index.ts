/**
 * Outbox: webhook deliveries: written in the transaction of what they tell of, sent after it, retried, recorded.
 */
export { createWebhookDesk } from './desk.ts'
export { createOutbox, type Outbox } from './outbox.ts'
export { KEYS_ARE_KEPT_S, prepareWebhookKeys } from './signing-keys.ts'
