/** Members that clients send in a place where they would be ignored without a word, and the place that they belong to. */
import { apiError } from './api-error.ts'
import type { JsonObject } from './json.ts'
import { snakeCase } from './normalize.ts'

const CARD = 'parameters` of `ACTIVITY_TYPE_SET_PAYMENT_METHOD'

/** By message (docs/protocol/webhooks.md#endpoints, docs/protocol/organizations.md#billing). */
const MISPLACED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CreateWebhookEndpointIntent: { eventTypes: 'subscriptions[].eventType' },
  // The bytes of this type are kept, code of a card and all.
  SetPaymentMethodIntentV2: { number: CARD, cvv: CARD },
}

/** Throws the refusal of a member that the message does not have and its sender must have meant otherwise. */
export function checkMisplaced(message: string, value: JsonObject): void {
  for (const [name, place] of Object.entries(MISPLACED[message] ?? {})) {
    if ((value[name] ?? value[snakeCase(name)]) != null)
      throw apiError('invalidField', name, `belongs into \`${place}\``)
  }
}
