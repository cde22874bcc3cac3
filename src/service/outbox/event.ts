import type { JsonObject } from '../../protocol/index.ts'
import type { Transaction } from '../store/index.ts'

/** Makes the event of a change, out of what has changed. */
export type Producer<Changed> = (tx: Transaction, changed: Changed) => Promise<WebhookEvent>

/** The event of one change. */
export interface WebhookEvent {
  /** The organizations whose endpoints get it. */
  readonly organizationIds: readonly [string, ...string[]]
  /** When it happened: milliseconds since the epoch. */
  readonly at: number
  /** What it is about, where the first attempts of an endpoint's events about one thing are to be in order. */
  readonly subject?: string
  /** Whether its body must not be kept as it is. @default false */
  readonly isSecret?: boolean
  /** What a subscription may choose by. */
  readonly facts: EventFacts
  /** Its body, as text of JSON. Only run where somebody is told. */
  readonly write: () => Promise<string>
}

/** What an event is about, by the member of a filter that chooses it; absent where the event has nothing of the kind. */
export interface EventFacts {
  readonly activityTypes?: string
  readonly activityStatuses?: string
  readonly organizationIds?: string
  readonly addresses?: string
  readonly caip2?: string
}

/** A body that is known. */
export function bodyOf(body: JsonObject): WebhookEvent['write'] {
  return async () => JSON.stringify(body)
}
