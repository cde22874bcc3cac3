/**
 * Sends messages, in the background of the service. What is to be sent is in the store, sealed, from the moment it was asked
 * for until it was sent or given up: a service that was killed sends it later, once more at worst.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Sealing } from '../keys/index.ts'
import { startLoop } from '../loop.ts'
import {
  deleteMessage,
  findNextMessage,
  insertEmailEvent,
  listDueMessages,
  type MessageRow,
  postponeMessage,
} from '../resources/messages/store.ts'
import type { Lease } from '../store/index.ts'
import type { Email, Message, Outgoing, Sent, Sms, Transport } from './message.ts'
import { openMessage } from './record.ts'

export interface Messenger {
  /** Looks for new messages at once. */
  wake(): void
  /** Lets attempts that are under way finish for a moment, then breaks them off: they are made again at the next start. */
  close(): Promise<void>
}

/** The transport of each kind of message. */
export interface Transports {
  readonly email: Transport<Email>
  readonly sms: Transport<Sms>
}

const MOST_AT_ONCE = 8
/** The service's clock may be moved while it waits. */
const LOOK_AGAIN_MS = 500
const CLOSING_TAKES_MS = 1_000

/** How long after each attempt that failed the next one comes; the last again and again. A person waits for a code. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000]
/** What failed together must not come back together. */
const JITTER = 0.2

/** Starts sending. */
export function createMessenger(tools: {
  /** Messages are one process's at a time. */
  readonly lease: Lease
  readonly sealing: Sealing
  readonly transports: Transports
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  readonly logger: Logger
}): Messenger {
  const { lease, sealing, transports, clock, randomBytes, logger } = tools
  const { database } = lease
  const busy = new Set<string>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()
  const loop = startLoop(() => turn().catch(waitAfterFault), lease)

  /** Begins what is due, and says when to look again. */
  async function turn(): Promise<number> {
    const now = clock()
    // From before the read: what ends meanwhile still stands in what is read.
    const taken = new Set(busy)
    const { due, next } = await database.read(async (tx) => ({
      due: await listDueMessages(tx, { now, limit: MOST_AT_ONCE + taken.size }),
      next: await findNextMessage(tx, now),
    }))
    const free = due.filter(({ id }) => !taken.has(id))
    for (const row of free.slice(0, MOST_AT_ONCE - taken.size)) begin(row)
    return next === undefined ? Infinity : Math.min(next - now, LOOK_AGAIN_MS)
  }

  function begin(row: MessageRow): void {
    busy.add(row.id)
    const work = attempt(row)
      // What could not be noted would otherwise be sent again at once, and again.
      .catch((error: unknown) => delay(waitAfterFault(error), undefined, { signal: closing.signal }).catch(() => {}))
      .then(() => {
        busy.delete(row.id)
        running.delete(work)
        loop.wake()
      })
    running.add(work)
  }

  async function attempt(row: MessageRow): Promise<void> {
    const begun = performance.now()
    if (clock() >= row.expires_at) {
      await database.write((tx) => deleteMessage(tx, row.id))
      return logger.warn('message given up', { messageId: row.id, attempts: row.attempts, reason: 'it has expired' })
    }
    const message = openMessage(sealing.unseal, row)
    const { kind } = message.content
    const sent = await send(message)
    if (sent.kind === 'failed' && closing.signal.aborted) return
    await note(row, message, sent)
    // Nothing of whom it goes to, nor of what it says.
    const said = { messageId: row.id, kind, where: transports[kind].where, attempts: row.attempts + 1 }
    const ms = Math.round(performance.now() - begun)
    if (sent.kind === 'sent') logger.info('message sent', { ...said, ms })
    else if (sent.isFinal) logger.warn('message given up', { ...said, ms, reason: sent.reason })
    else logger.warn('message failed and is tried again', { ...said, ms, reason: sent.reason })
  }

  function send({ content, ...rest }: Outgoing<Message>): Promise<Sent> {
    return content.kind === 'email'
      ? transports.email.send({ ...rest, content }, closing.signal)
      : transports.sms.send({ ...rest, content }, closing.signal)
  }

  async function note(row: MessageRow, { content }: Outgoing, sent: Sent): Promise<void> {
    const now = clock()
    const attempts = row.attempts + 1
    if (sent.kind === 'failed' && !sent.isFinal) {
      const next_attempt_at = now + pauseAfter(attempts, randomBytes)
      return database.write((tx) => postponeMessage(tx, { id: row.id, attempts, next_attempt_at }))
    }
    await database.write(async (tx) => {
      await deleteMessage(tx, row.id)
      if (content.kind !== 'email') return
      await insertEmailEvent(tx, {
        id: newUuid(randomBytes),
        organization_id: row.organization_id,
        message_id: row.id,
        event_type: sent.kind === 'sent' ? 'Delivery' : 'Bounce',
        from_address: sent.kind === 'sent' ? sent.from : (content.from?.address ?? ''),
        to_address: content.to,
        details: JSON.stringify(
          sent.kind === 'sent'
            ? { deliverySmtpResponse: sent.response, deliveryProcessingTimeMillis: String(now - row.created_at) }
            : { bounceType: 'Permanent', diagnosticCode: sent.reason },
        ),
        occurred_at: now,
      })
    })
  }

  function waitAfterFault(error: unknown): number {
    if (!closing.signal.aborted) logger.error('messages wait', { reason: String(error) })
    return LOOK_AGAIN_MS
  }

  return {
    wake: loop.wake,
    async close() {
      await loop.close()
      const patience = setTimeout(() => closing.abort(), CLOSING_TAKES_MS)
      await Promise.all(running)
      clearTimeout(patience)
      closing.abort()
      await Promise.all([transports.email.close(), transports.sms.close()])
    },
  }
}

function pauseAfter(attempts: number, randomBytes: RandomBytes): number {
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length) - 1]!
  const share = Buffer.from(randomBytes(4)).readUInt32LE() / 2 ** 32
  return Math.round(pause * (1 - JITTER + 2 * JITTER * share))
}
