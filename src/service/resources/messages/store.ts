import type { Generated } from 'kysely'
import { prepare, type Transaction } from '../../store/index.ts'

/** An e-mail or text message that waits to be sent. */
export interface MessageRow {
  id: string
  organization_id: string
  sealed_content: Uint8Array
  attempts: number
  next_attempt_at: number
  expires_at: number
  created_at: number
}

/** An event of an e-mail, such as that it was sent. */
export interface EmailEventRow {
  position: number
  id: string
  organization_id: string
  message_id: string
  event_type: string
  from_address: string
  to_address: string
  /** JSON. */
  details: string
  occurred_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    messages: MessageRow
    email_events: Omit<EmailEventRow, 'position'> & { position: Generated<number> }
  }
}

/** How many events of e-mails are remembered: the newest, of all organizations. */
const MOST_EVENTS = 10_000

const insert = prepare((tx, row: MessageRow) => tx.insertInto('messages').values(row))
const due = prepare((tx, of: { now: number; limit: number }) =>
  tx
    .selectFrom('messages')
    .selectAll()
    .where('next_attempt_at', '<=', of.now)
    .orderBy('next_attempt_at')
    .limit(of.limit),
)
const soonest = prepare((tx, of: { now: number }) =>
  tx
    .selectFrom('messages')
    .select(({ fn }) => fn.min('next_attempt_at').as('at'))
    .where('next_attempt_at', '>', of.now),
)

/** Adds a message that is to be sent. */
export async function insertMessage(tx: Transaction, row: MessageRow): Promise<void> {
  await insert(tx, row)
}

/** Reads what is to be sent by now, what was due first. */
export async function listDueMessages(
  tx: Transaction,
  of: { readonly now: number; readonly limit: number },
): Promise<MessageRow[]> {
  return due(tx, of)
}

/** Reads when the first of what is not due yet will be; undefined where nothing is. */
export async function findNextMessage(tx: Transaction, now: number): Promise<number | undefined> {
  return (await soonest(tx, { now }))[0]?.at ?? undefined
}

/** Counts the messages that wait to be sent: those that nobody has tried yet, and those whose attempts have failed. */
export async function countMessages(
  tx: Transaction,
): Promise<Readonly<Record<'waiting' | 'to be tried again', number>>> {
  const { all, tried } = await tx
    .selectFrom('messages')
    .select(({ fn, eb, case: when }) => [
      fn.countAll<number>().as('all'),
      fn
        .count<number>(
          when()
            .when(eb('attempts', '>', 0))
            .then(1)
            .end(),
        )
        .as('tried'),
    ])
    .executeTakeFirstOrThrow()
  return { waiting: Number(all) - Number(tried), 'to be tried again': Number(tried) }
}

/** Notes an attempt that failed, and when the next one is due. */
export async function postponeMessage(
  tx: Transaction,
  { id, attempts, next_attempt_at }: Pick<MessageRow, 'id' | 'attempts' | 'next_attempt_at'>,
): Promise<void> {
  await tx.updateTable('messages').set({ attempts, next_attempt_at }).where('id', '=', id).execute()
}

/** Deletes a message that was sent or given up, its content included. */
export async function deleteMessage(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('messages').where('id', '=', id).execute()
}

/** Stores an event of an e-mail, and deletes the oldest beyond a number. */
export async function insertEmailEvent(tx: Transaction, row: Omit<EmailEventRow, 'position'>): Promise<void> {
  await tx.insertInto('email_events').values(row).execute()
  await tx
    .deleteFrom('email_events')
    .where('position', '<=', ({ selectFrom }) =>
      selectFrom('email_events').select(({ fn, val, eb }) => eb(fn.max('position'), '-', val(MOST_EVENTS)).as('last')),
    )
    .execute()
}

/** Reads what came of the e-mails to an address, newest first. */
export async function listEmailEvents(
  tx: Transaction,
  organizationId: string,
  listing: {
    readonly address: string
    readonly eventType?: string | undefined
    readonly limit: number
    readonly before?: number | undefined
    readonly after?: number | undefined
  },
): Promise<EmailEventRow[]> {
  const { address, eventType, limit, before, after } = listing
  let query = tx
    .selectFrom('email_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('to_address', '=', address)
  if (eventType) query = query.where('event_type', '=', eventType)
  if (before !== undefined) query = query.where('position', '<', before)
  if (after !== undefined) query = query.where('position', '>', after)
  const rows = await query
    .orderBy('position', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return after === undefined ? rows : rows.reverse()
}

/** Reads the place of an event in the list; undefined where there is none. */
export async function findEmailEvent(tx: Transaction, organizationId: string, id: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom('email_events')
    .select('position')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.position
}
