import { readSetting, SETTING_OF_RESTORE, type Transaction, writeSetting } from '../../store/index.ts'
import type { SendRow } from './store.ts'

/** The sends of one address on one chain. */
export type Lane = Pick<SendRow, 'caip2' | 'sender'>

export interface SendLaneRow {
  caip2: string
  /** In lower case. */
  sender: string
  /** The first nonce of which it is not known here what used it, or will. */
  next_nonce: number
}

/** A transaction of an address that no send here was signed as. */
export interface ForeignTransactionRow {
  caip2: string
  sender: string
  nonce: number
  /** Null where no transaction of the address used the nonce: an authorization did (EIP-7702). */
  hash: string | null
  block: number
  /** Lower case; empty for a creation. */
  receiver: string
  /** Decimal, in wei. */
  value: string
  /** Hex with `0x`, lower case. */
  data: string
  /** The send that it is, once somebody has said so. */
  send_id: string | null
  /** 1 once somebody has said that it is another payment than any send here. */
  is_other: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    send_lanes: SendLaneRow
    foreign_transactions: ForeignTransactionRow
  }
}

/** Reads the lanes that anything was ever accepted for. */
export async function listLanes(tx: Transaction, caip2: string): Promise<readonly Lane[]> {
  return tx.selectFrom('sends').select(['caip2', 'sender']).distinct().where('caip2', '=', caip2).execute()
}

/** Reads the lanes of which `findNextNonce` knows something. */
export async function listKnownLanes(tx: Transaction, caip2: string): Promise<readonly Lane[]> {
  return tx
    .selectFrom('send_lanes')
    .select(['caip2', 'sender'])
    .where('caip2', '=', caip2)
    .union(tx.selectFrom('sends').select(['caip2', 'sender']).where('caip2', '=', caip2).where('nonce', 'is not', null))
    .execute()
}

/**
 * Reads the first nonce of a lane of which it is not known here what used it; undefined where nothing of the lane is known.
 * Sends of a time before lanes were kept say it by their nonces.
 */
export async function findNextNonce(tx: Transaction, { caip2, sender }: Lane): Promise<number | undefined> {
  const lane = await tx
    .selectFrom('send_lanes')
    .select('next_nonce')
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .executeTakeFirst()
  const signed = await tx
    .selectFrom('sends')
    .select('nonce')
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .where('nonce', '>=', lane?.next_nonce ?? 0)
    .orderBy('nonce')
    .execute()
  if (lane === undefined) return signed.length === 0 ? undefined : signed.at(-1)!.nonce! + 1
  let next = lane.next_nonce
  for (const { nonce } of signed) if (nonce === next) next++
  return next
}

/** Notes up to which nonce a lane is known. */
export async function putNextNonce(tx: Transaction, { caip2, sender }: Lane, next_nonce: number): Promise<void> {
  await tx
    .insertInto('send_lanes')
    .values({ caip2, sender, next_nonce })
    .onConflict((conflict) => conflict.columns(['caip2', 'sender']).doUpdateSet({ next_nonce }))
    .execute()
}

/** Keeps a transaction that somebody else has sent, or what was said of it. */
export async function putForeign(tx: Transaction, row: ForeignTransactionRow): Promise<void> {
  const { send_id, is_other } = row
  await tx
    .insertInto('foreign_transactions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['caip2', 'sender', 'nonce']).doUpdateSet({ send_id, is_other }))
    .execute()
}

/** Reads the transactions of a lane of which nobody has said yet whether they are sends of here. */
export async function listUnclaimed(tx: Transaction, { caip2, sender }: Lane): Promise<ForeignTransactionRow[]> {
  return tx
    .selectFrom('foreign_transactions')
    .selectAll()
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .where('hash', 'is not', null)
    .where('send_id', 'is', null)
    .where('is_other', '=', 0)
    .orderBy('nonce')
    .execute()
}

/** Finds the send that was signed as a transaction. */
export async function findSendOfHash(tx: Transaction, { caip2, sender }: Lane, hash: string) {
  return tx
    .selectFrom('send_attempts')
    .innerJoin('sends', 'sends.id', 'send_attempts.send_id')
    .selectAll('sends')
    .where('send_attempts.hash', '=', hash)
    .where('sends.caip2', '=', caip2)
    .where('sends.sender', '=', sender)
    .executeTakeFirst()
}

/** When the store was put back from a snapshot, ISO 8601: what addresses have sent since the snapshot is not in it. */
export async function readRestoredAt(tx: Transaction): Promise<string | undefined> {
  return readSetting(tx, SETTING_OF_RESTORE)
}

/** Notes that the store is older than what it was once: from now on it counts as put back at this time, ISO 8601. */
export async function putRestoredAt(tx: Transaction, at: string): Promise<void> {
  await writeSetting(tx, SETTING_OF_RESTORE, at)
}

/**
 * Reads which organizations have the key of a lane of Ethereum: those that have sent from the address, or else had it sent for. None
 * has where the service's own key pays for what it sends.
 */
export async function listTenants(tx: Transaction, { caip2, sender }: Lane): Promise<readonly string[]> {
  const of = (column: 'sender' | 'account') =>
    tx.selectFrom('sends').where('caip2', '=', caip2).where(column, '=', sender).select('organization_id').distinct()
  if ((await of('sender').where('account', 'is not', null).limit(1).executeTakeFirst()) !== undefined) return []
  const senders = await of('sender').execute()
  const rows = senders.length > 0 ? senders : await of('account').execute()
  return rows.map(({ organization_id }) => organization_id)
}

/** JSON of when organizations were last found behind a chain of Ethereum, ISO 8601 by their ids. */
const SETTING_OF_ORGANIZATIONS = 'restored-at of organizations'

type RestoredOrganizations = Readonly<Record<string, string>>

/** Notes that of the lanes of some organizations the records are older than the chain: they count as put back at this time, ISO 8601. */
export async function putOrganizationsRestoredAt(
  tx: Transaction,
  organizationIds: readonly string[],
  at: string,
): Promise<void> {
  const before = await readSetting(tx, SETTING_OF_ORGANIZATIONS)
  const restored = Object.fromEntries(organizationIds.map((id) => [id, at]))
  const all = { ...(before && (JSON.parse(before) as RestoredOrganizations)), ...restored }
  await writeSetting(tx, SETTING_OF_ORGANIZATIONS, JSON.stringify(all))
}

/** When what the records have of some organizations was put back last: with the store, or by itself; ISO 8601. */
export async function readOrganizationsRestoredAt(
  tx: Transaction,
  organizationIds: () => Promise<readonly string[]> | readonly string[],
): Promise<string | undefined> {
  const ofStore = await readRestoredAt(tx)
  const text = await readSetting(tx, SETTING_OF_ORGANIZATIONS)
  if (text === undefined) return ofStore
  const restored = JSON.parse(text) as RestoredOrganizations
  const times = [ofStore, ...(await organizationIds()).map((id) => restored[id])]
  return times
    .filter((each) => each !== undefined)
    .toSorted()
    .at(-1)
}

/** When what the records have of a lane of Ethereum was put back last, ISO 8601. */
export async function readLaneRestoredAt(tx: Transaction, lane: Lane): Promise<string | undefined> {
  return readOrganizationsRestoredAt(tx, () => listTenants(tx, lane))
}
