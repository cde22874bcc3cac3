/**
 * Delivers events to webhook endpoints, in the background of the service. An event is in the store from the transaction of its
 * change until it was delivered or given up: a service that was killed goes on where it was, so that an endpoint gets each event
 * at least once. Endpoints do not wait for each other, and a new event does not wait for one that is tried again.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { startLoop } from '../loop.ts'
import type { Faults } from '../operator/index.ts'
import {
  type DueDelivery,
  delayWebhookDelivery,
  deleteWebhookDelivery,
  insertWebhookFailure,
  listDeliveryFronts,
  listDueDeliveries,
  postponeWebhookDelivery,
} from '../resources/webhook-endpoints/deliveries-store.ts'
import type { Lease, Transaction } from '../store/index.ts'
import { type AttemptResult, type AttemptTools, attemptDelivery } from './attempt.ts'
import { type ChangeOf, type ProducedEvent, recordEvent } from './events.ts'
import { pauseAfter } from './schedule.ts'

export interface Outbox {
  /** Writes the event of a change in the change's own transaction, and says whether anybody is told; `wake` once that is committed. */
  record<Type extends ProducedEvent>(tx: Transaction, eventType: Type, changed: ChangeOf<Type>): Promise<boolean>
  /** Looks for new events at once. */
  wake(): void
  /** Counts of attempts since the start, by how they ended. */
  outcomes(): Readonly<Record<'delivered' | 'to be tried again' | 'given up', number>>
  /** Lets attempts that are under way finish for a moment, then breaks them off: they are made again at the next start. */
  close(): Promise<void>
}

export interface OutboxTools extends AttemptTools {
  /** The lease of delivering: one process at a time has it. */
  readonly lease: Lease
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  /** Whether subscriptions choose by their filters. */
  readonly appliesFilters: boolean
  /** The faults that an operator has set. */
  readonly faults?: Pick<Faults, 'takeForWebhook'> | undefined
}

/** The log line of an attempt. */
interface Said {
  readonly eventId: string
  readonly eventType: string
  readonly endpointId: string
  readonly host: string
  readonly attempts: number
  readonly ms: number
}

/** Attempts for one endpoint at a time. */
const MOST_AT_ONCE = 8

/**
 * Deliveries that are older are given up without an attempt: twice as long as all attempts take. The queue of an endpoint that
 * takes events more slowly than they happen would grow without end.
 */
const MOST_AGE_MS = 24 * 3_600_000
const EXPIRED: AttemptResult = { kind: 'failed', reason: 'waited for more than a day', isFinal: true }

/** The service's clock may be moved while it waits. */
const LOOK_AGAIN_MS = 500

const CLOSING_TAKES_MS = 1_000

const NOTHING: ReadonlySet<string> = new Set()

/** Starts delivering. */
export function createOutbox(tools: OutboxTools): Outbox {
  const { lease, clock, randomBytes, logger, sealing, appliesFilters } = tools
  const { database } = lease
  const recording = { newId: () => newUuid(randomBytes), seal: sealing.seal, appliesFilters }
  const lanes = new Map<string, Set<string>>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()
  const outcomes = { delivered: 0, 'to be tried again': 0, 'given up': 0 }
  const loop = startLoop(() => turn().catch(waitAfterFault), lease)

  /** Begins the deliveries that are due, and says when to look again. */
  async function turn(): Promise<number> {
    const now = clock()
    // Taken before the read: an attempt that ends during the read is still in the rows that were read.
    const busy = new Map([...lanes].map(([endpoint, lane]) => [endpoint, new Set(lane)]))
    const { due, pauseMs } = await database.read(async (tx) => {
      const fronts = await listDeliveryFronts(tx)
      const found: DueDelivery[] = []
      for (const { endpoint_id, next_attempt_at } of fronts) {
        const taken = busy.get(endpoint_id) ?? NOTHING
        const free = MOST_AT_ONCE - taken.size
        if (next_attempt_at > now || free === 0) continue
        const first = await listDueDeliveries(tx, endpoint_id, { now, limit: MOST_AT_ONCE + taken.size })
        found.push(...first.filter(({ event_id }) => !taken.has(event_id)).slice(0, free))
      }
      const soonest = Math.min(...fronts.map((front) => front.next_attempt_at).filter((at) => at > now))
      const wait = fronts.length === 0 ? Infinity : Math.min(soonest - now, LOOK_AGAIN_MS)
      return { due: found, pauseMs: wait }
    })
    for (const delivery of due) begin(delivery)
    return pauseMs
  }

  function begin(delivery: DueDelivery): void {
    const { endpoint_id, event_id } = delivery
    const lane = lanes.get(endpoint_id) ?? new Set()
    lanes.set(endpoint_id, lane.add(event_id))
    const work = deliver(delivery)
      // A delivery whose end could not be noted would otherwise be made again at once, and again.
      .catch((error: unknown) => delay(waitAfterFault(error), undefined, { signal: closing.signal }).catch(() => {}))
      .then(() => {
        lane.delete(event_id)
        if (lane.size === 0) lanes.delete(endpoint_id)
        running.delete(work)
        loop.wake()
      })
    running.add(work)
  }

  async function deliver(delivery: DueDelivery): Promise<void> {
    const begun = performance.now()
    const fault = await meetFault(delivery)
    if (fault === 'met') return
    if (fault === 'twice') await attemptDelivery(tools, delivery, closing.signal)
    const isExpired = clock() - delivery.created_at > MOST_AGE_MS
    const result = isExpired ? EXPIRED : await attemptDelivery(tools, delivery, closing.signal)
    if (result.kind === 'failed' && closing.signal.aborted) return
    await note(delivery, result, {
      eventId: delivery.event_id,
      eventType: delivery.event_type,
      endpointId: delivery.endpoint_id,
      // The rest of a URL may hold a secret of its owner.
      host: new URL(delivery.url).host,
      attempts: delivery.attempts + (isExpired ? 0 : 1),
      ms: Math.round(performance.now() - begun),
    })
  }

  /** A fault meets the first attempt alone, and not once more after it has made that late. */
  async function meetFault({
    event_id,
    event_type,
    attempts,
    next_attempt_at,
    created_at,
  }: DueDelivery): Promise<'none' | 'met' | 'twice'> {
    if (attempts > 0 || next_attempt_at !== created_at) return 'none'
    const fault = tools.faults?.takeForWebhook(event_type)
    if (!fault) return 'none'
    const { lose, twice, delayMs } = fault
    logger.warn('a fault that the operator asked for', {
      eventId: event_id,
      eventType: event_type,
      lose,
      twice,
      delayMs,
    })
    if (twice) return 'twice'
    await database.write(async (tx) => {
      if (delayMs === undefined) await deleteWebhookDelivery(tx, event_id)
      else await delayWebhookDelivery(tx, event_id, clock() + delayMs)
    })
    return 'met'
  }

  async function note(delivery: DueDelivery, result: AttemptResult, said: Said): Promise<void> {
    const { event_id, organization_id, endpoint_id, event_type, subject, body } = delivery
    if (result.kind === 'delivered') {
      await database.write((tx) => deleteWebhookDelivery(tx, event_id))
      outcomes.delivered += 1
      return logger.info('webhook delivered', { ...said, status: result.status })
    }
    const { reason, isFinal } = result
    const { attempts, host } = said
    const now = clock()
    const pauseMs = isFinal ? undefined : pauseAfter(attempts, randomBytes)
    if (pauseMs !== undefined) {
      const next_attempt_at = now + pauseMs
      await database.write((tx) => postponeWebhookDelivery(tx, { event_id, attempts, reason, next_attempt_at }))
      outcomes['to be tried again'] += 1
      return logger.info('webhook failed and is tried again', { ...said, reason, pauseMs })
    }
    const about = { event_id, organization_id, endpoint_id, event_type, subject, body }
    const failure = { ...about, host, attempts, reason, failed_at: now }
    await database.write(async (tx) => {
      // It may have been dropped meanwhile, with its endpoint.
      if (await deleteWebhookDelivery(tx, event_id)) await insertWebhookFailure(tx, failure)
    })
    outcomes['given up'] += 1
    logger.warn('webhook given up', { ...said, reason })
  }

  function waitAfterFault(error: unknown): number {
    if (!closing.signal.aborted) logger.error('webhooks wait', { reason: String(error) })
    return LOOK_AGAIN_MS
  }

  return {
    record: (tx, eventType, changed) => recordEvent(tx, eventType, changed, recording),
    wake: loop.wake,
    outcomes: () => ({ ...outcomes }),
    async close() {
      await loop.close()
      const patience = setTimeout(() => closing.abort(), CLOSING_TAKES_MS)
      await Promise.all(running)
      clearTimeout(patience)
      // A receiver that has answered may still be sending a body that nobody reads.
      closing.abort()
    },
  }
}
