import type { JsonObject } from '../../protocol/index.ts'

/** What endpoints are told of one change. */
export interface WebhookEvent {
  /** Whose endpoints. */
  readonly organizationId: string
  readonly body: JsonObject
  /** When it happened: milliseconds since the epoch. */
  readonly at: number
}
