import { type Generated, sql } from 'kysely'
import type { AddressFormat } from '../../../chain/index.ts'
import type { Transaction } from '../../store/index.ts'

/** A block that was looked through; the highest of a chain is where it is gone on from. */
export interface WatchedBlockRow {
  caip2: string
  number: number
  /** Hex with `0x`, lower case. */
  hash: string
}

/** A change that was told as confirmed, and is to be told as final. */
export interface BalanceChangeRow {
  /** In the order in which they were found; the database gives it. */
  position: Generated<number>
  /** The owner of the address. */
  organization_id: string
  caip2: string
  block_number: number
  /** JSON of a `BalanceChange`. */
  change: string
}

/** What a transaction has changed of one asset of one address. */
export interface BalanceChange {
  /** The owner of the address. */
  readonly organizationId: string
  readonly caip2: string
  readonly operation: 'deposit' | 'withdraw'
  readonly txHash: string
  readonly address: string
  readonly asset: {
    readonly symbol?: string
    readonly name?: string
    readonly decimals: number
    readonly caip19: string
    /** In the smallest unit, decimal. */
    readonly amount: string
  }
  readonly block: {
    readonly number: number
    readonly hash: string
    /** RFC 3339. */
    readonly timestamp: string
  }
}

declare module '../../store/schema.ts' {
  interface Schema {
    watched_blocks: WatchedBlockRow
    balance_changes: BalanceChangeRow
  }
}

const ADDRESSES_A_STATEMENT = 500

/** When the first of the endpoints was made that are told of balances, of any organization; undefined where there is none. */
export async function findFirstFollowerOfBalances(tx: Transaction): Promise<number | undefined> {
  const { first } = await tx
    .selectFrom('webhook_endpoints')
    .select(({ fn }) => fn.min<number | null>('created_at').as('first'))
    .where('is_active', '=', 1)
    .where('subscriptions', 'like', '%"BALANCE%')
    .executeTakeFirstOrThrow()
  return first === null ? undefined : Number(first)
}

/** Reads the blocks of a chain that were looked through and are remembered, the newest first. */
export async function listWatchedBlocks(tx: Transaction, caip2: string): Promise<WatchedBlockRow[]> {
  return tx.selectFrom('watched_blocks').selectAll().where('caip2', '=', caip2).orderBy('number', 'desc').execute()
}

/** Remembers a block, and forgets those that are so many below it. */
export async function insertWatchedBlock(tx: Transaction, block: WatchedBlockRow, kept: number): Promise<void> {
  await tx.insertInto('watched_blocks').values(block).execute()
  await tx
    .deleteFrom('watched_blocks')
    .where('caip2', '=', block.caip2)
    .where('number', '<=', block.number - kept)
    .execute()
}

/** Forgets the blocks above a number, and what they have changed: they are no part of the chain any longer. */
export async function forgetBlocksAbove(tx: Transaction, caip2: string, number: number): Promise<void> {
  await tx.deleteFrom('watched_blocks').where('caip2', '=', caip2).where('number', '>', number).execute()
  await tx.deleteFrom('balance_changes').where('caip2', '=', caip2).where('block_number', '>', number).execute()
}

/** Adds a change that is to be told as final later. */
export async function insertBalanceChange(tx: Transaction, change: BalanceChange): Promise<void> {
  const { organizationId, caip2, block } = change
  const row = { organization_id: organizationId, caip2, block_number: block.number, change: JSON.stringify(change) }
  await tx.insertInto('balance_changes').values(row).execute()
}

/** Takes out the changes of blocks up to a number, in the order in which they were found. */
export async function takeBalanceChanges(tx: Transaction, caip2: string, upTo: number): Promise<BalanceChange[]> {
  const rows = await tx
    .selectFrom('balance_changes')
    .select(['position', 'change'])
    .where('caip2', '=', caip2)
    .where('block_number', '<=', upTo)
    .orderBy('position')
    .execute()
  if (rows.length === 0) return []
  await tx.deleteFrom('balance_changes').where('caip2', '=', caip2).where('block_number', '<=', upTo).execute()
  return rows.map(({ change }) => JSON.parse(change) as BalanceChange)
}

/** An address of a wallet, as it is written there, and whose it is. */
export interface HeldAddress {
  readonly organization_id: string
  readonly address: string
}

/**
 * Finds whose wallets have some addresses of a format; those of Ethereum are given in lower case. An address may be in several
 * organizations.
 */
export async function findOwners(
  tx: Transaction,
  format: AddressFormat,
  addresses: readonly string[],
): Promise<readonly HeldAddress[]> {
  const found: HeldAddress[] = []
  for (let start = 0; start < addresses.length; start += ADDRESSES_A_STATEMENT) {
    const some = addresses.slice(start, start + ADDRESSES_A_STATEMENT)
    found.push(
      ...(await tx
        .selectFrom('wallet_accounts')
        .select(['organization_id', 'address'])
        .distinct()
        .where(format === 'ADDRESS_FORMAT_ETHEREUM' ? sql<string>`lower(address)` : 'address', 'in', some)
        .where('address_format', '=', sql.lit(format))
        .orderBy('organization_id')
        .execute()),
    )
  }
  return found
}
