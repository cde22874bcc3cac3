/** What a store that was put back from a snapshot has found out about addresses of Solana, which have no nonces. */
import { readSetting, type Transaction, writeSetting } from '../../store/index.ts'
import type { Lane } from './lanes-store.ts'

interface SolanaLaneRow {
  caip2: string
  sender: string
  /** The restore of which it is known what the address has sent since the snapshot. */
  restored_at: string
}

/** A transaction that an address has paid the fee of, and that no send here was signed as. */
export interface ForeignSolanaTransactionRow {
  caip2: string
  sender: string
  signature: string
  slot: number
  /** Base64. */
  bytes: string
  /** The send that it is, once somebody has said so. */
  send_id: string | null
  /** 1 once somebody has said that it is another payment than any send here. */
  is_other: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    solana_lanes: SolanaLaneRow
    foreign_solana_transactions: ForeignSolanaTransactionRow
  }
}

/** Where a cluster stood when a restored store first looked at it. */
export interface RestoredCluster {
  /** As `readRestoredAt` says it. */
  readonly restoredAt: string
  /** What the records do not have was signed after this slot. */
  readonly slot: number
  /** Up to this block height what was signed before the restore may still be included. */
  readonly until: number
}

const settingOf = (caip2: string) => `restored-at ${caip2}`

export async function readRestoredCluster(tx: Transaction, caip2: string): Promise<RestoredCluster | undefined> {
  const text = await readSetting(tx, settingOf(caip2))
  return text === undefined ? undefined : (JSON.parse(text) as RestoredCluster)
}

export async function putRestoredCluster(tx: Transaction, caip2: string, cluster: RestoredCluster): Promise<void> {
  await writeSetting(tx, settingOf(caip2), JSON.stringify(cluster))
}

/** Reads the `terms` of the newest signed form of every send on a chain. */
export async function listTerms(tx: Transaction, caip2: string): Promise<readonly { readonly terms: string | null }[]> {
  return tx
    .selectFrom('send_attempts')
    .innerJoin('sends', 'sends.id', 'send_attempts.send_id')
    .select('terms')
    .where('sends.caip2', '=', caip2)
    .execute()
}

/** Reads the `terms` of what was signed last on a chain. */
export async function listNewestTerms(
  tx: Transaction,
  caip2: string,
): Promise<readonly { readonly terms: string | null }[]> {
  const MOST = 100
  return tx
    .selectFrom('send_attempts')
    .innerJoin('sends', 'sends.id', 'send_attempts.send_id')
    .select('terms')
    .where('sends.caip2', '=', caip2)
    .orderBy('send_attempts.created_at', 'desc')
    .limit(MOST)
    .execute()
}

/** Reads the addresses that anything was signed for on a chain. */
export async function listSignedLanes(tx: Transaction, caip2: string): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('sends')
    .select('sender')
    .distinct()
    .where('caip2', '=', caip2)
    .where('hash', 'is not', null)
    .execute()
  return rows.map(({ sender }) => sender)
}

/** Whether it is known what an address has sent between the snapshot and this restore. */
export async function isKnownSince(tx: Transaction, { caip2, sender }: Lane, restoredAt: string): Promise<boolean> {
  const row = await tx
    .selectFrom('solana_lanes')
    .select('restored_at')
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .executeTakeFirst()
  return row?.restored_at === restoredAt
}

/** Notes that it is. */
export async function putKnownSince(tx: Transaction, { caip2, sender }: Lane, restored_at: string): Promise<void> {
  await tx
    .insertInto('solana_lanes')
    .values({ caip2, sender, restored_at })
    .onConflict((conflict) => conflict.columns(['caip2', 'sender']).doUpdateSet({ restored_at }))
    .execute()
}

/** Keeps a transaction that somebody else has sent, or what was said of it. */
export async function putForeignSolana(tx: Transaction, row: ForeignSolanaTransactionRow): Promise<void> {
  const { send_id, is_other } = row
  await tx
    .insertInto('foreign_solana_transactions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['caip2', 'sender', 'signature']).doUpdateSet({ send_id, is_other }))
    .execute()
}

/** Reads the transactions of an address that no send here was signed as, as far as they were found. */
export async function listForeignSolana(
  tx: Transaction,
  { caip2, sender }: Lane,
): Promise<ForeignSolanaTransactionRow[]> {
  return tx
    .selectFrom('foreign_solana_transactions')
    .selectAll()
    .where('caip2', '=', caip2)
    .where('sender', '=', sender)
    .orderBy('slot')
    .execute()
}

/** Which of some signatures sends here were signed with. */
export async function listOwnSignatures(
  tx: Transaction,
  caip2: string,
  signatures: readonly string[],
): Promise<ReadonlySet<string>> {
  const MOST_AT_ONCE = 500
  const own = new Set<string>()
  for (let start = 0; start < signatures.length; start += MOST_AT_ONCE) {
    const found = await tx
      .selectFrom('send_attempts')
      .innerJoin('sends', 'sends.id', 'send_attempts.send_id')
      .select('send_attempts.hash')
      .where('sends.caip2', '=', caip2)
      .where('send_attempts.hash', 'in', signatures.slice(start, start + MOST_AT_ONCE))
      .execute()
    for (const { hash } of found) own.add(hash)
  }
  return own
}
