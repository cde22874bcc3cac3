import type { WebhookEventType } from '../../webhook/index.ts'

/** A webhook that is still to be delivered, or was given up. The rest of its URL and its body may hold secrets, and stay inside. */
export interface SeenDelivery {
  readonly eventId: string
  readonly eventType: WebhookEventType
  /** Whose the endpoint is. */
  readonly organizationId: string
  /** The endpoint; or the organization, for the URL of its feature `FEATURE_NAME_WEBHOOK`. */
  readonly endpointId: string
  /** With its port. */
  readonly host: string
  /** How many were made and failed. */
  readonly attempts: number
  /** How the last one failed; absent while there was none. */
  readonly reason?: string
  /** When it is tried again, or was given up: milliseconds since the epoch, by the service's clock. */
  readonly at: number
}

/** What webhooks are still to be delivered, and which were given up: what comes next first, what was given up last first. */
export interface SeenDeliveries {
  /** The service's time. */
  readonly now: number
  readonly waiting: { readonly count: number; readonly first: readonly SeenDelivery[] }
  readonly givenUp: {
    readonly count: number
    /** `isKept`: its body is still there, so that it can be delivered again. */
    readonly last: readonly (SeenDelivery & { readonly isKept: boolean })[]
  }
}

/** Requests of an operator about webhooks. Each is answered with what there is after it. */
export type WebhookRequest =
  | { readonly kind: 'list-deliveries' }
  | { readonly kind: 'redeliver'; readonly eventId: string }
  | { readonly kind: 'open-loopback'; readonly port: number }
  | { readonly kind: 'close-loopback'; readonly port: number }

/** Answers them. Throws `service/operator-invalid`. */
export interface WebhookDesk {
  list(): Promise<SeenDeliveries>
  /** Puts an event that was given up back among those that are due. */
  redeliver(eventId: string): Promise<void>
  /** Lets webhooks go to a port of 127.0.0.1 by plain http, until that is closed or the service ends. */
  openLoopback(port: number): void
  closeLoopback(port: number): void
}

const KINDS: ReadonlySet<unknown> = new Set<WebhookRequest['kind']>([
  'list-deliveries',
  'redeliver',
  'open-loopback',
  'close-loopback',
])

/** Whether a request is one about webhooks. */
export function isWebhookRequest(request: { readonly kind: unknown }): request is WebhookRequest {
  return KINDS.has(request.kind)
}

/** Answers a request about webhooks. */
export async function answerAtDesk(desk: WebhookDesk, request: WebhookRequest): Promise<SeenDeliveries> {
  if (request.kind === 'redeliver') await desk.redeliver(request.eventId)
  if (request.kind === 'open-loopback') desk.openLoopback(request.port)
  if (request.kind === 'close-loopback') desk.closeLoopback(request.port)
  return desk.list()
}
