/** Which master keys each process holds, as the process itself says: a rotation waits for those that lack the new one. */
import { sql } from 'kysely'
import { DirectAdapter } from './dialect.ts'
import { HELD_MS, NOW, PRESENT } from './leases.ts'
import type { Transaction } from './transaction.ts'

/** What a process says of itself. Keys are named by what `nameOfKey` makes of them. */
export interface KeyHolder {
  readonly kind: 'service' | 'proxy'
  /** Machine and process id: `db-1:4711`. */
  readonly place: string
  /** The keys that it opens with. */
  readonly opens: readonly string[]
  /** The key that all it writes is sealed with; absent where it seals nothing. */
  readonly seals?: string | undefined
}

interface KeyHolderRow {
  /** The process. */
  holder: string
  kind: KeyHolder['kind']
  place: string
  /** JSON. */
  opens: string
  seals: string | null
  /** Milliseconds since the epoch, by the database's clock. */
  until: number
}

declare module './schema.ts' {
  interface Schema {
    key_holders: KeyHolderRow
  }
}

/** Keeps what a process says it holds, until it says otherwise or nothing for ten seconds. */
export async function noteKeyHolder(tx: Transaction, holder: string, said: KeyHolder): Promise<void> {
  const row = {
    ...{ kind: said.kind, place: said.place, opens: JSON.stringify(said.opens), seals: said.seals ?? null },
    until: sql<number>`${now(tx)} + ${sql.lit(HELD_MS)}`,
  }
  await tx
    .deleteFrom('key_holders')
    .where(sql<boolean>`until < ${now(tx)}`)
    .execute()
  await tx
    .insertInto('key_holders')
    .values({ holder, ...row })
    .onConflict((conflict) => conflict.column('holder').doUpdateSet(row))
    .execute()
}

/** Forgets a process that has ended. */
export async function forgetKeyHolder(tx: Transaction, holder: string): Promise<void> {
  await tx.deleteFrom('key_holders').where('holder', '=', holder).execute()
}

/** Lists what the processes hold that are there. Where one process alone may serve the database, that one is not among them. */
export async function listKeyHolders(tx: Transaction): Promise<KeyHolder[]> {
  const rows = await tx
    .selectFrom('key_holders')
    .selectAll()
    .where(sql<boolean>`until >= ${now(tx)}`)
    .orderBy('kind')
    .orderBy('place')
    .execute()
  return rows.map(({ kind, place, opens, seals }) => ({
    ...{ kind, place, opens: JSON.parse(opens) as string[] },
    ...(seals === null ? {} : { seals }),
  }))
}

/** How many services are there that do not say what they hold: those of a version that did not. */
export async function countSilentServices(tx: Transaction): Promise<number> {
  if (isSqlite(tx)) return 0
  const { rows } = await sql<{ count: number }>`select count(*) as count from leases
    where name like ${`${PRESENT}%`} and until > ${now(tx)}
      and not exists (select 1 from key_holders where key_holders.holder = leases.holder)`.execute(tx)
  return Number(rows[0]!.count)
}

function isSqlite(tx: Transaction): boolean {
  return tx.getExecutor().adapter instanceof DirectAdapter
}

/** The time that all processes share: that of the database's server, or of the one machine. */
function now(tx: Transaction) {
  return isSqlite(tx) ? sql<number>`${sql.lit(Date.now())}` : NOW
}
