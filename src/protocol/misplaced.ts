/** Members that clients send in a place where they would be ignored without a word, and the place that they belong to. */
import { apiError } from './api-error.ts'
import type { JsonObject } from './json.ts'
import { snakeCase } from './normalize.ts'

/** By message (docs/protocol/webhooks.md#endpoints). */
const MISPLACED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CreateWebhookEndpointIntent: { eventTypes: 'subscriptions[].eventType' },
}

/** Throws the refusal of a member that the message does not have and its sender must have meant otherwise. */
export function checkMisplaced(message: string, value: JsonObject): void {
  for (const [name, place] of Object.entries(MISPLACED[message] ?? {})) {
    if ((value[name] ?? value[snakeCase(name)]) != null)
      throw apiError('invalidField', name, `belongs into \`${place}\``)
  }
}
