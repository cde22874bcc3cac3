import type { Generated } from 'kysely'
import type { Transaction } from '../../store/index.ts'

/** A transaction that the service completes, signs, broadcasts and watches (docs/protocol/sends.md). */
export interface SendRow {
  id: string
  organization_id: string
  activity_id: string
  caip2: string
  /** The address that the chain has it from, and whose nonce it has; lower case for Ethereum. */
  sender: string
  /** The address that it is sent for where the sender only pays, or null. */
  account: string | null
  /** JSON of what was asked for: the call, and the fields that the caller has set. */
  request: string
  /** INITIALIZED, BROADCASTING, INCLUDED or FAILED; the last never changes, nor does the third once its block is settled. */
  status: 'INITIALIZED' | 'BROADCASTING' | 'INCLUDED' | 'FAILED'
  /** Null until it is signed, and again when no node has taken it. */
  nonce: number | null
  /** Of the form that was included, or of the newest that was broadcast. */
  hash: string | null
  /** JSON of the error as the API has it, or null; of one that is open, what it waits for. */
  failure: string | null
  /** The block that it is in while the chain may still take that back; null before and after. */
  unsettled_block: number | null
  /** 1 where the store was put back from a time at which it was open: nothing is signed for it before an operator says so. */
  held_by_restore: number
  /** Order of acceptance, of all organizations; the database gives it. */
  position: number
  created_at: number
  updated_at: number
}

/** One signed form of a send: the first, or one with higher fees. All of them have the same nonce. */
export interface SendAttemptRow {
  send_id: string
  organization_id: string
  number: number
  hash: string
  /** Ethereum's in hex with `0x`, Solana's in base64; kept before it is broadcast: what a node may have is never forgotten. */
  signed_transaction: string
  /** JSON of what its bytes do not say: of Solana's until when it may be included; null of Ethereum's. */
  terms: string | null
  created_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    sends: Omit<SendRow, 'position' | 'unsettled_block' | 'held_by_restore'> & {
      position: Generated<number>
      unsettled_block: Generated<number | null>
      held_by_restore: Generated<number>
    }
    send_attempts: SendAttemptRow
  }
}

const OPEN = ['INITIALIZED', 'BROADCASTING'] as const

/** Adds a send behind all others; the sender of one without `account` pays for it. */
export async function insertSend(
  tx: Transaction,
  row: Omit<SendRow, 'position' | 'account' | 'unsettled_block' | 'held_by_restore'> &
    Partial<Pick<SendRow, 'account'>>,
): Promise<void> {
  await tx
    .insertInto('sends')
    .values({ account: null, ...row })
    .execute()
}

/** Reads one send of an organization, by its id or by the hash of its transaction. */
export async function findSend(tx: Transaction, organizationId: string, id: string): Promise<SendRow | undefined> {
  return tx
    .selectFrom('sends')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('id', '=', id), eb('hash', 'in', [id, id.toLowerCase()])]))
    .orderBy('position', 'desc')
    .executeTakeFirst()
}

/** Reads the open sends of a chain, of all organizations, in the order of their acceptance. */
export async function listOpenSends(tx: Transaction, caip2: string): Promise<SendRow[]> {
  return openSends(tx, caip2).execute()
}

/** Reads those that an address sends, or that are sent for it. */
export async function listOpenSendsOf(
  tx: Transaction,
  { caip2, address }: Pick<SendRow, 'caip2'> & { readonly address: string },
): Promise<SendRow[]> {
  return openSends(tx, caip2)
    .where((eb) => eb.or([eb('sender', '=', address), eb('account', '=', address)]))
    .execute()
}

/** Reads the sends of a chain that are in blocks which it may still take back. */
export async function listUnsettled(tx: Transaction, caip2: string): Promise<SendRow[]> {
  return tx
    .selectFrom('sends')
    .selectAll()
    .where('caip2', '=', caip2)
    .where('unsettled_block', 'is not', null)
    .orderBy('position')
    .execute()
}

/**
 * Notes that a send's block is settled; or, with a `status`, that the send is in no block any more and is open again. Says
 * whether its block was unsettled until then.
 */
export async function updateUnsettled(
  tx: Transaction,
  { organization_id, id }: Pick<SendRow, 'organization_id' | 'id'>,
  change: Pick<SendRow, 'unsettled_block' | 'updated_at'> & Partial<Pick<SendRow, 'status' | 'failure'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sends')
    .set(change)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .where('unsettled_block', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Counts the sends that have not come to their end, by where they are: those that are to be made, are offered, or may be taken back. */
export async function countSendsUnderWay(
  tx: Transaction,
): Promise<Readonly<Record<'initialized' | 'broadcasting' | 'in block', number>>> {
  const open = await tx
    .selectFrom('sends')
    .select(['status', ({ fn }) => fn.countAll<number>().as('number')])
    .where('status', 'in', OPEN)
    .groupBy('status')
    .execute()
  const { number } = await tx
    .selectFrom('sends')
    .select(({ fn }) => fn.countAll<number>().as('number'))
    .where('unsettled_block', 'is not', null)
    .executeTakeFirstOrThrow()
  const of = (status: SendRow['status']) => Number(open.find((row) => row.status === status)?.number ?? 0)
  return { initialized: of('INITIALIZED'), broadcasting: of('BROADCASTING'), 'in block': Number(number) }
}

function openSends(tx: Transaction, caip2: string) {
  return tx.selectFrom('sends').selectAll().where('caip2', '=', caip2).where('status', 'in', OPEN).orderBy('position')
}

/** Changes a send that is open; what is included is changed by `updateUnsettled` alone. Says whether it did. */
export async function updateSend(
  tx: Transaction,
  { organization_id, id }: Pick<SendRow, 'organization_id' | 'id'>,
  change: Partial<Pick<SendRow, 'status' | 'nonce' | 'hash' | 'failure' | 'unsettled_block'>> &
    Pick<SendRow, 'updated_at'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sends')
    .set(change)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .where('status', 'in', OPEN)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Holds all open sends, or those of one organization: they count as put back from a time at which they were open. */
export async function holdOpenSends(tx: Transaction, organizationId?: string): Promise<void> {
  let open = tx.updateTable('sends').set({ held_by_restore: 1 }).where('status', 'in', OPEN)
  if (organizationId !== undefined) open = open.where('organization_id', '=', organizationId)
  await open.execute()
}

/** Lets a held send go on; one that is not held stays as it is. */
export async function releaseSend(tx: Transaction, { id }: Pick<SendRow, 'id'>): Promise<void> {
  await tx
    .updateTable('sends')
    .set({ held_by_restore: 0, failure: null })
    .where('id', '=', id)
    .where('held_by_restore', '=', 1)
    .where('status', 'in', OPEN)
    .execute()
}

/** Whether a send is held still: another operator may have had it released. */
export async function isStillHeld(tx: Transaction, { id }: Pick<SendRow, 'id'>): Promise<boolean> {
  const row = await tx.selectFrom('sends').select('held_by_restore').where('id', '=', id).executeTakeFirst()
  return row?.held_by_restore === 1
}

/** Reads the sends of an address that have been signed with a nonce, from one on, and that may have taken it. */
export async function listTaken(
  tx: Transaction,
  { caip2, sender, from }: Pick<SendRow, 'caip2' | 'sender'> & { readonly from: number },
): Promise<readonly SendRow[]> {
  return tx
    .selectFrom('sends')
    .selectAll()
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .where('status', '!=', 'FAILED')
    .where('nonce', '>=', from)
    .execute()
}

/** Which transaction of an address. */
type SenderNonce = Pick<SendRow, 'caip2' | 'sender'> & { readonly nonce: number }

function withNonce(tx: Transaction, { caip2, sender, nonce }: SenderNonce) {
  return tx
    .selectFrom('sends')
    .selectAll('sends')
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .where('nonce', '=', nonce)
}

/** Finds the newest signed form that a node has of any send of an address with a nonce. */
export async function findFlyingAttempt(tx: Transaction, nonce: SenderNonce): Promise<SendAttemptRow | undefined> {
  const newest = await withNonce(tx, nonce)
    .where('status', '=', 'BROADCASTING')
    .orderBy('position', 'desc')
    .executeTakeFirst()
  return newest && (await listAttempts(tx, newest))[0]
}

/** Reads what is signed and not at its end, of an address or sent for it, each with its first form. */
export async function listSigned(
  tx: Transaction,
  { caip2, address }: Pick<SendRow, 'caip2'> & { readonly address: string },
) {
  return tx
    .selectFrom('sends')
    .innerJoin('send_attempts', 'send_attempts.send_id', 'sends.id')
    .select(['sends.id', 'sends.sender', 'sends.request', 'send_attempts.signed_transaction'])
    .where('sends.caip2', '=', caip2)
    .where('sends.status', 'in', OPEN)
    .where('send_attempts.number', '=', 1)
    .where((eb) => eb.or([eb('sends.sender', '=', address), eb('sends.account', '=', address)]))
    .execute()
}

/** Adds a signed form of a send. */
export async function insertAttempt(tx: Transaction, row: SendAttemptRow): Promise<void> {
  await tx.insertInto('send_attempts').values(row).execute()
}

/** Reads the signed forms of a send, the newest first. */
export async function listAttempts(
  tx: Transaction,
  { organization_id, id }: Pick<SendRow, 'organization_id' | 'id'>,
): Promise<SendAttemptRow[]> {
  return tx
    .selectFrom('send_attempts')
    .selectAll()
    .where('organization_id', '=', organization_id)
    .where('send_id', '=', id)
    .orderBy('number', 'desc')
    .execute()
}

/** Whether another send that may still be included, or is, has a signed form with this hash. */
export async function isSentElsewhere(tx: Transaction, { id, caip2 }: SendRow, hash: string): Promise<boolean> {
  const found = await tx
    .selectFrom('send_attempts')
    .innerJoin('sends', 'sends.id', 'send_attempts.send_id')
    .select('send_id')
    .where('send_attempts.hash', '=', hash)
    .where('sends.id', '!=', id)
    .where('sends.caip2', '=', caip2)
    .where('sends.status', '!=', 'FAILED')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Forgets the signed forms of a send that no node has taken, so that its nonce is free again. */
export async function deleteAttempts(
  tx: Transaction,
  { organization_id, id }: Pick<SendRow, 'organization_id' | 'id'>,
): Promise<void> {
  await tx
    .deleteFrom('send_attempts')
    .where('organization_id', '=', organization_id)
    .where('send_id', '=', id)
    .execute()
}

/** Reads what an organization has sent for an address and is in a block, newest first, those closest to a cursor. */
export async function listIncludedSends(
  tx: Transaction,
  organizationId: string,
  page: {
    readonly caip2: string
    /** In lower case for Ethereum. */
    readonly address: string
    readonly limit: number
    /** Positions. */
    readonly newerThan?: number
    readonly olderThan?: number
  },
): Promise<SendRow[]> {
  const { caip2, address, limit, newerThan, olderThan } = page
  let query = tx
    .selectFrom('sends')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('caip2', '=', caip2)
    .where('status', '=', 'INCLUDED')
    .where(({ fn, eb, ref }) => eb(fn.coalesce(ref('account'), ref('sender')), '=', address))
  if (newerThan !== undefined) query = query.where('position', '>', newerThan)
  if (olderThan !== undefined) query = query.where('position', '<', olderThan)
  const towardsNewer = newerThan !== undefined
  const rows = await query
    .orderBy('position', towardsNewer ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  return towardsNewer ? rows.reverse() : rows
}
