import type { JsonObject } from '../../protocol/index.ts'

/** The event of one change. */
export interface WebhookEvent {
  /** The organization whose endpoints get it. */
  readonly organizationId: string
  readonly body: JsonObject
  /** When it happened: milliseconds since the epoch. */
  readonly at: number
}
