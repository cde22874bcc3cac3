/** What an endpoint may be told of, and whose endpoint: some events are about everything below a parent, and for parents alone. */
export const WEBHOOK_EVENTS = {
  ACTIVITY_UPDATES: { owner: 'anybody' },
  BALANCE_CONFIRMED_UPDATES: { owner: 'parents' },
  BALANCE_FINALIZED_UPDATES: { owner: 'parents' },
  SEND_TRANSACTION_STATUS_UPDATES: { owner: 'parents' },
} as const satisfies Record<string, { readonly owner: 'anybody' | 'parents' }>
export type WebhookEventType = keyof typeof WEBHOOK_EVENTS

/** Whether a word names an event. */
export function isWebhookEventType(word: string): word is WebhookEventType {
  return Object.hasOwn(WEBHOOK_EVENTS, word)
}
